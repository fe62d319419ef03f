package trigger_test

import (
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
)

// A function without side effects makes events of a change. Package publisher publishes them:
//
//	func main() { publisher.Start(links.Platform(), visits, nil) }
func ExampleEventMapper() {
	type LinkVisited struct {
		Link string `json:"link" maxLength:"100" doc:"The link."`
	}
	var visits trigger.EventMapper = func(change trigger.Change) ([]trigger.Event, error) {
		if change.Table != "Visits" || change.Kind != events.DynamoDBOperationTypeInsert {
			return nil, nil
		}
		link := trigger.Text(change.Keys, "link")
		return []trigger.Event{{Name: "LinkVisited", Detail: LinkVisited{Link: link}}}, nil
	}

	change := trigger.Change{Table: "Visits", Kind: events.DynamoDBOperationTypeInsert}
	change.Keys = trigger.Image{"link": events.NewStringAttribute("home")}
	events, err := visits(change)
	fmt.Printf("%+v %v\n", events, err)
	// Output: [{Name:LinkVisited Detail:{Link:home}}] <nil>
}
