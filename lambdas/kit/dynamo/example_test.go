package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// A function that joins a platform says which access patterns it was granted.
func ExampleOpen() {
	platform := askahuman.Platform().Join(schema.Own{
		Functions:      []schema.Function{{Name: "report"}},
		AccessPatterns: schema.UsedBy("report", schema.Existing("GetQuestion"), schema.Existing("ListResponses")),
	})
	environment := kit.Environment{Getenv: func(variable string) string {
		if !strings.HasSuffix(variable, "_TABLE") {
			return ""
		}
		return "the name for " + variable
	}}
	db, err := dynamo.Open(environment, platform, "report")
	if err != nil {
		log.Fatal(err)
	}
	err = db.Delete(context.Background(), "DeleteSubscription", []any{"id"}, expression.ConditionBuilder{})
	fmt.Println(strings.NewReplacer(": ", ":\n", ", so", ",\nso").Replace(err.Error()))
	// Output:
	// the function report may not use the access pattern "DeleteSubscription":
	// let the pattern say UsedBy("report") in the schema,
	// so that the function's role is granted what the pattern needs
}

// Requests are made by the name of an access pattern: table, index, order and
// consistency are the schema's.
func ExampleDB_Items() {
	ctx := context.Background()
	db, err := dynamo.Open(kit.Environment{AWS: aws.Config{Region: "eu-central-1"}, Getenv: os.Getenv},
		askahuman.Platform(), "humanapi")
	if err != nil {
		log.Fatal(err)
	}
	query := dynamo.Query{
		Values:   []any{"OPEN", "2026-02-02T09:30:00.000Z"},
		Filter:   dynamo.Name("deadline").GreaterThan(expression.Value("2026-02-02T09:30:00.000Z")),
		PageSize: 20,
	}
	for item, err := range db.Items(ctx, "ListOpenQuestions", query) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item["question_id"])
	}
}

// Two writes happen together, or neither does.
func ExampleDB_Transact() {
	ctx := context.Background()
	db, err := dynamo.Open(kit.Environment{AWS: aws.Config{Region: "eu-central-1"}, Getenv: os.Getenv},
		askahuman.Platform(), "agentapi")
	if err != nil {
		log.Fatal(err)
	}
	err = db.Transact(ctx, "EndQuestion",
		dynamo.Update("Questions", []any{"3d7b493f-095f-4f11-b98c-8ebcfcdb28b7"},
			expression.Set(dynamo.Name("status"), expression.Value("CLOSED")), dynamo.Equal("status", "OPEN")),
		dynamo.Update("Guards", []any{"OPEN#agent"},
			expression.Delete(dynamo.Name("open_question_ids"),
				expression.Value(&types.AttributeValueMemberSS{
					Value: []string{"3d7b493f-095f-4f11-b98c-8ebcfcdb28b7"}})),
			expression.ConditionBuilder{}))
	var refused *dynamo.TransactionError
	if errors.As(err, &refused) {
		if _, ended := refused.Failed(0); ended {
			fmt.Println("somebody else has ended it")
		}
	}
}

// An index of keys lists the items, and one request reads them. The same index serves to delete the
// items of a user who leaves.
func ExampleDB_BatchGet() {
	var db *dynamo.DB // of a platform with these patterns
	ctx := context.Background()
	var keys [][]any
	for item, err := range db.Items(ctx, "ListOwnTerms", dynamo.Query{Values: []any{"alice"}, PageSize: 20}) {
		if err != nil {
			log.Fatal(err)
		}
		keys = append(keys, []any{item["term"], item["submission_id"]})
	}
	terms, err := db.BatchGet(ctx, "GetTerms", keys...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(terms), "terms, the newest first")
	complete, err := db.Erase(ctx, dynamo.Erasure{List: "ListOwnTerms", Delete: "DeleteTerm"}, "alice")
	if err != nil || !complete {
		log.Fatal("the rest is deleted by the next invocation: ", err)
	}
}

// Time to live is in whole seconds: a moment within one is rounded up, so that
// nothing goes too early.
func ExampleExpiryAt() {
	fmt.Println(dynamo.ExpiryAt(time.UnixMilli(1_767_225_600_001)))
	// Output: 1767225601
}

// Times are text that sorts; zero times are left out.
func ExampleMarshal() {
	item, err := dynamo.Marshal(struct {
		ID       string    `dynamodbav:"id"`
		AskedAt  time.Time `dynamodbav:"asked_at"`
		ClosedAt time.Time `dynamodbav:"closed_at,omitempty"`
	}{"1", time.Date(2026, 2, 2, 10, 30, 0, 0, time.FixedZone("", 3600)), time.Time{}})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(len(item), item["asked_at"].(*types.AttributeValueMemberS).Value)
	// Output: 2 2026-02-02T09:30:00.000Z
}
