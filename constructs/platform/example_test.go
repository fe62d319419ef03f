package platform_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
)

// bookings is a construct, with what the platform has.
type bookings struct {
	constructs.Construct
	platform.Platform
}

// How the construct of a platform of your own module declares its parts. Its
// function is the package lambdas/bookings/bookingsapi.
func ExampleDeclare() {
	described := schema.Platform{
		Name:  "bookings",
		Title: "Bookings",
		Database: schema.Database{
			Tables: []schema.Table{{
				Name: "Bookings", PhysicalName: "bookings", Description: "Bookings, by guest.",
				Key: schema.Key{Partition: "guest", Sort: "night"},
				Attributes: []schema.Attribute{
					{Name: "guest", Type: schema.String, Description: "Who stays"},
					{Name: "night", Type: schema.String, Description: "YYYY-MM-DD"},
				},
			}},
			AccessPatterns: []schema.AccessPattern{{
				Name: "ListBookings", Description: "A guest's bookings", Action: schema.Query, Table: "Bookings",
				KeyConditions: []schema.KeyCondition{{Attribute: "guest", Comparison: schema.Equal}},
				Functions:     []string{"bookingsapi"},
			}},
		},
		Functions: []schema.Function{{Name: "bookingsapi", Description: "serves bookings"}},
		Routes: []schema.Route{
			{Method: "GET", Path: "/bookings", Function: "bookingsapi", Caller: schema.CallerUser,
				Summary: "One's own bookings"},
		},
	}
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("bookings"), nil)
	b := &bookings{}
	platform.Declare(b, stack, "Bookings", described, platform.Declaration{
		Module: "example.com/app",
		Props:  platform.Props{JWTIssuer: "https://login.example.com", JWTAudience: []string{"bookings"}},
	})
	app.Synth(nil)
}
