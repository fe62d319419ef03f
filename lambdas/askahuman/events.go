package askahuman

import (
	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/eventbus"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// Happened are the events of a change of questions or of reports.
func Happened(change eventbus.Change) ([]eventbus.Event, error) {
	switch {
	case change.Kind == events.DynamoDBOperationTypeRemove:
		return nil, nil // the end of its retention
	case change.Table == "Reports":
		return reported(change)
	case change.Kind == events.DynamoDBOperationTypeInsert:
		var asked askahuman.QuestionAskedEvent
		err := stream.Read(change.NewImage, &asked)
		return []eventbus.Event{{Name: askahuman.QuestionAsked, Detail: asked}}, err
	}
	var before, after askahuman.QuestionProgressEvent
	if err := stream.Read(change.OldImage, &before); err != nil {
		return nil, err
	}
	if err := stream.Read(change.NewImage, &after); err != nil {
		return nil, err
	}
	before.Status = askahuman.StatusOf(stream.Text(change.OldImage, "status"))
	after.Status = askahuman.StatusOf(stream.Text(change.NewImage, "status"))
	after.Hidden = stream.Text(change.NewImage, "hidden_at") != ""
	var happened []eventbus.Event
	if after.CurrentResponses > before.CurrentResponses {
		happened = append(happened, eventbus.Event{Name: askahuman.QuestionAnswered, Detail: after})
	}
	if name := map[askahuman.Status]string{askahuman.StatusClosed: askahuman.QuestionClosed,
		askahuman.StatusExpired: askahuman.QuestionExpired}[after.Status]; name != "" && before.Status.TakesAnswers() {
		happened = append(happened, eventbus.Event{Name: name, Detail: after})
	}
	return happened, nil
}

// reported is the event of a report that has one complaint more than before.
func reported(change eventbus.Change) ([]eventbus.Event, error) {
	var before, after askahuman.OperatorReport
	if err := stream.Read(change.OldImage, &before); err != nil {
		return nil, err
	}
	if err := stream.Read(change.NewImage, &after); err != nil || len(after.Complaints) <= len(before.Complaints) {
		return nil, err
	}
	last := after.Complaints[len(after.Complaints)-1]
	return []eventbus.Event{{Name: askahuman.ContentReported, Detail: askahuman.ContentReportedEvent{
		ReportID: after.ID, QuestionID: after.QuestionID, ResponseID: after.ResponseID, Reason: last.Reason,
		By: last.By, Reports: len(after.Complaints),
	}}}, nil
}
