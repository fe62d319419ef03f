package askahuman

import (
	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// EventsOf returns the events of a change of questions or of reports.
func EventsOf(change trigger.Change) ([]trigger.Event, error) {
	switch {
	case change.Kind == events.DynamoDBOperationTypeRemove:
		return nil, nil // the end of its retention
	case change.Table == "Reports":
		return reported(change)
	case change.Kind == events.DynamoDBOperationTypeInsert:
		var asked askahuman.QuestionAskedEvent
		err := trigger.Read(change.NewImage, &asked)
		return []trigger.Event{{Name: askahuman.QuestionAsked, Detail: asked}}, err
	}
	var before, after askahuman.QuestionProgressEvent
	if err := trigger.Read(change.OldImage, &before); err != nil {
		return nil, err
	}
	if err := trigger.Read(change.NewImage, &after); err != nil {
		return nil, err
	}
	before.Status = askahuman.StatusOf(trigger.Text(change.OldImage, "status"))
	after.Status = askahuman.StatusOf(trigger.Text(change.NewImage, "status"))
	after.Hidden = trigger.Text(change.NewImage, "hidden_at") != ""
	var happened []trigger.Event
	if after.CurrentResponses > before.CurrentResponses {
		happened = append(happened, trigger.Event{Name: askahuman.QuestionAnswered, Detail: after})
	}
	if name := map[askahuman.Status]string{askahuman.StatusClosed: askahuman.QuestionClosed,
		askahuman.StatusExpired: askahuman.QuestionExpired}[after.Status]; name != "" && before.Status.TakesAnswers() {
		happened = append(happened, trigger.Event{Name: name, Detail: after})
	}
	return happened, nil
}

// reported is the event of a report that has one complaint more than before. A report of a name has none.
func reported(change trigger.Change) ([]trigger.Event, error) {
	var before, after askahuman.OperatorReport
	if err := trigger.Read(change.OldImage, &before); err != nil {
		return nil, err
	}
	if err := trigger.Read(change.NewImage, &after); err != nil || after.NamedPerson != "" ||
		len(after.Complaints) <= len(before.Complaints) {
		return nil, err
	}
	last := after.Complaints[len(after.Complaints)-1]
	return []trigger.Event{{Name: askahuman.ContentReported, Detail: askahuman.ContentReportedEvent{
		ReportID: after.ID, QuestionID: after.QuestionID, ResponseID: after.ResponseID, Reason: last.Reason,
		By: last.By, Reports: len(after.Complaints),
	}}}, nil
}
