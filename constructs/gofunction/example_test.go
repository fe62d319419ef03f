package gofunction_test

import (
	"context"
	"log"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// The main package handlers/orders of the app's own module becomes a function.
func ExampleNew() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("orders"), nil)
	gofunction.New(stack, "Orders", gofunction.Props{
		Package:     "handlers/orders",
		Timeout:     10 * time.Second,
		Environment: map[string]string{"GREETING": "hello"},
	})
	app.Synth(nil)
}

// Several functions are built at once, while the CDK starts.
func ExampleStart() {
	build := gofunction.Start(context.Background(), gofunction.Source{
		Directory: ".",
		Packages:  []string{"handlers/orders", "handlers/invoices"},
	})

	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("shop"), nil)
	if err := build.Wait(); err != nil {
		log.Fatal(err)
	}
	gofunction.New(stack, "Orders", gofunction.Props{Build: build, Name: "orders"})
	gofunction.New(stack, "Invoices", gofunction.Props{Build: build, Name: "invoices"})
	app.Synth(nil)
}
