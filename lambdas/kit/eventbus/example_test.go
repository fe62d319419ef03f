package eventbus_test

import (
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/eventbus"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
)

// A function without side effects makes events of a change. Start publishes them:
//
//	func main() { eventbus.Start(links.Platform(), visits, nil) }
func ExampleHappened() {
	type LinkVisited struct {
		Link string `json:"link" maxLength:"100" doc:"The link."`
	}
	var visits eventbus.Happened = func(change eventbus.Change) ([]eventbus.Event, error) {
		if change.Table != "Visits" || change.Kind != events.DynamoDBOperationTypeInsert {
			return nil, nil
		}
		link := stream.Text(change.Keys, "link")
		return []eventbus.Event{{Name: "LinkVisited", Detail: LinkVisited{Link: link}}}, nil
	}

	change := eventbus.Change{Table: "Visits", Kind: events.DynamoDBOperationTypeInsert}
	change.Keys = stream.Image{"link": events.NewStringAttribute("home")}
	happened, err := visits(change)
	fmt.Printf("%+v %v\n", happened, err)
	// Output: [{Name:LinkVisited Detail:{Link:home}}] <nil>
}
