package httpapi_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Users need a token of an issuer; everyone may read the prices.
func ExampleNew() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("orders"), nil)
	orders := gofunction.New(stack, "Orders", gofunction.Props{Package: "handlers/orders"})
	httpapi.New(stack, "API", httpapi.Props{
		Name: "Orders",
		Routes: []schema.Route{
			{Method: "POST", Path: "/orders", Function: "orders", Caller: schema.CallerUser, Summary: "Order"},
			{Method: "GET", Path: "/prices", Function: "orders", Caller: schema.CallerAnyone,
				Summary: "Read the prices"},
		},
		Functions:      map[string]*gofunction.Function{"orders": orders},
		JWT:            httpapi.JWT{Issuer: "https://issuer.example.com", Audience: []string{"orders"}},
		AllowedOrigins: []string{"https://example.com"},
		Throttle:       httpapi.Throttle{RequestsPerSecond: 50, Burst: 100},
	})
	app.Synth(nil)
}
