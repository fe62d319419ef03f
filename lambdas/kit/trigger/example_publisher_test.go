package trigger_test

import (
	"fmt"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
)

// A function without side effects makes events of a change. StartPublisher publishes them:
//
//	func main() { trigger.StartPublisher(links.Platform(), visits, nil) }
func ExampleHappened() {
	type LinkVisited struct {
		Link string `json:"link" maxLength:"100" doc:"The link."`
	}
	var visits trigger.Happened = func(change trigger.Change) ([]trigger.Event, error) {
		if change.Table != "Visits" || change.Kind != lambdaevents.DynamoDBOperationTypeInsert {
			return nil, nil
		}
		link := trigger.Text(change.Keys, "link")
		return []trigger.Event{{Name: "LinkVisited", Detail: LinkVisited{Link: link}}}, nil
	}

	change := trigger.Change{Table: "Visits", Kind: lambdaevents.DynamoDBOperationTypeInsert}
	change.Keys = trigger.Image{"link": lambdaevents.NewStringAttribute("home")}
	happened, err := visits(change)
	fmt.Printf("%+v %v\n", happened, err)
	// Output: [{Name:LinkVisited Detail:{Link:home}}] <nil>
}
