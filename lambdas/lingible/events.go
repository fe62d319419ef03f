package lingible

import (
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// EventsOf returns the events of a change of translations, submissions or quizzes.
func EventsOf(change trigger.Change) ([]trigger.Event, error) {
	owner := strings.TrimPrefix(trigger.Text(change.Keys, "PK"), userKey(""))
	isNew, isChanged := change.Kind == events.DynamoDBOperationTypeInsert,
		change.Kind == events.DynamoDBOperationTypeModify
	switch {
	case change.Table == translations && isNew:
		kept := lingible.TranslationKeptEvent{UserID: owner}
		err := trigger.Read(change.NewImage, &kept)
		return []trigger.Event{{Name: lingible.TranslationKept, Detail: kept}}, err
	case change.Table == submissions && isNew:
		return term(lingible.TermSubmitted, change.NewImage)
	case change.Table == submissions && isChanged && approval(change.NewImage) != "" && approval(change.OldImage) == "":
		return term(lingible.TermApproved, change.NewImage)
	case change.Table == users && isChanged && trigger.Text(change.NewImage,
		"session_status") == string(lingible.QuizEnded):
		// A quiz that has ended does not change.
		quiz := lingible.QuizFinishedEvent{UserID: owner}
		err := trigger.Read(change.NewImage, &quiz)
		return []trigger.Event{{Name: lingible.QuizFinished, Detail: quiz}}, err
	}
	return nil, nil
}

func approval(image trigger.Image) string {
	return lingible.SubmissionStatus(trigger.Text(image, "status")).ApprovalType()
}

func term(name string, image trigger.Image) ([]trigger.Event, error) {
	var submitted lingible.TermEvent
	err := trigger.Read(image, &submitted)
	return []trigger.Event{{Name: name, Detail: submitted}}, err
}
