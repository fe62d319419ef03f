package events_test

import (
	"fmt"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
)

// A function without side effects makes events of a change. StartPublisher publishes them:
//
//	func main() { events.StartPublisher(links.Platform(), visits, nil) }
func ExampleHappened() {
	type LinkVisited struct {
		Link string `json:"link" maxLength:"100" doc:"The link."`
	}
	var visits events.Happened = func(change events.Change) ([]events.Event, error) {
		if change.Table != "Visits" || change.Kind != lambdaevents.DynamoDBOperationTypeInsert {
			return nil, nil
		}
		link := events.Text(change.Keys, "link")
		return []events.Event{{Name: "LinkVisited", Detail: LinkVisited{Link: link}}}, nil
	}

	change := events.Change{Table: "Visits", Kind: lambdaevents.DynamoDBOperationTypeInsert}
	change.Keys = events.Image{"link": lambdaevents.NewStringAttribute("home")}
	happened, err := visits(change)
	fmt.Printf("%+v %v\n", happened, err)
	// Output: [{Name:LinkVisited Detail:{Link:home}}] <nil>
}
