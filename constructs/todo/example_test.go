package todo_test

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

// The zero Props are the safe ones.
func Example() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("todo"), nil)
	todo.New(stack, "Todo", todo.Props{})
	app.Synth(nil)
}

// Everything that is wrong is reported at once, before anything is declared.
func ExampleProps_Validate() {
	p := todo.Props{Props: platform.Props{Prefix: "To Do", LocalPort: 80}}
	fmt.Println(p.Validate())
	// Output:
	// 2 findings:
	//   Props.Prefix: got "To Do", allowed is 2 to 32 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen: write something like "aah"
	//   Props.LocalPort: got 80, allowed is 1024 to 65535: leave it 0 for the default
}
