package identity_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// Two programs get tokens by the client credentials grant.
func ExampleNewMachines() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("orders"), nil)
	machines := identity.NewMachines(stack, "Machines",
		identity.MachinesProps{Name: "orders", Clients: []string{"shop", "warehouse"}})
	jwt := httpapi.JWT{Issuer: machines.Issuer, Audience: machines.ClientIDs()}
	_ = jwt // The authorizer of an API.
	app.Synth(nil)
}

// People sign in on pages of the pool's own, and come back to the app.
func ExampleNewUsers() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("orders"), nil)
	identity.NewUsers(stack, "Users", identity.UsersProps{
		Name:         "orders",
		CallbackURLs: []string{"https://example.com/signed-in"},
		LogoutURLs:   []string{"https://example.com/"},
	})
	app.Synth(nil)
}
