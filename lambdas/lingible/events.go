package lingible

import (
	"strings"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// Happened are the events of a change of translations, submissions or quizzes.
func Happened(change events.Change) ([]events.Event, error) {
	owner := strings.TrimPrefix(events.Text(change.Keys, "PK"), userKey(""))
	isNew, isChanged := change.Kind == lambdaevents.DynamoDBOperationTypeInsert,
		change.Kind == lambdaevents.DynamoDBOperationTypeModify
	switch {
	case change.Table == translations && isNew:
		kept := lingible.TranslationKeptEvent{UserID: owner}
		err := events.Read(change.NewImage, &kept)
		return []events.Event{{Name: lingible.TranslationKept, Detail: kept}}, err
	case change.Table == submissions && isNew:
		return term(lingible.TermSubmitted, change.NewImage)
	case change.Table == submissions && isChanged && approval(change.NewImage) != "" && approval(change.OldImage) == "":
		return term(lingible.TermApproved, change.NewImage)
	case change.Table == users && isChanged && events.Text(change.NewImage,
		"session_status") == string(lingible.QuizEnded):
		// A quiz that has ended does not change.
		quiz := lingible.QuizFinishedEvent{UserID: owner}
		err := events.Read(change.NewImage, &quiz)
		return []events.Event{{Name: lingible.QuizFinished, Detail: quiz}}, err
	}
	return nil, nil
}

func approval(image events.Image) string {
	return lingible.SubmissionStatus(events.Text(image, "status")).ApprovalType()
}

func term(name string, image events.Image) ([]events.Event, error) {
	var submitted lingible.TermEvent
	err := events.Read(image, &submitted)
	return []events.Event{{Name: name, Detail: submitted}}, err
}
