package lingible

import (
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/eventbus"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// Happened are the events of a change of translations, submissions or quizzes.
func Happened(change eventbus.Change) ([]eventbus.Event, error) {
	owner := strings.TrimPrefix(stream.Text(change.Keys, "PK"), userKey(""))
	isNew, isChanged := change.Kind == events.DynamoDBOperationTypeInsert,
		change.Kind == events.DynamoDBOperationTypeModify
	switch {
	case change.Table == translations && isNew:
		kept := lingible.TranslationKeptEvent{UserID: owner}
		err := stream.Read(change.NewImage, &kept)
		return []eventbus.Event{{Name: lingible.TranslationKept, Detail: kept}}, err
	case change.Table == submissions && isNew:
		return term(lingible.TermSubmitted, change.NewImage)
	case change.Table == submissions && isChanged && approval(change.NewImage) != "" && approval(change.OldImage) == "":
		return term(lingible.TermApproved, change.NewImage)
	case change.Table == users && isChanged && stream.Text(change.NewImage,
		"session_status") == string(lingible.QuizEnded):
		// A quiz that has ended does not change.
		quiz := lingible.QuizFinishedEvent{UserID: owner}
		err := stream.Read(change.NewImage, &quiz)
		return []eventbus.Event{{Name: lingible.QuizFinished, Detail: quiz}}, err
	}
	return nil, nil
}

func approval(image stream.Image) string {
	return lingible.SubmissionStatus(stream.Text(image, "status")).ApprovalType()
}

func term(name string, image stream.Image) ([]eventbus.Event, error) {
	var submitted lingible.TermEvent
	err := stream.Read(image, &submitted)
	return []eventbus.Event{{Name: name, Detail: submitted}}, err
}
