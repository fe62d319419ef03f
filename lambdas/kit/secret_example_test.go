package kit_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

// The secret is read when it is first needed, and again after an hour.
func ExampleSecret_Value() {
	key := kit.NewSecret(aws.Config{Region: "eu-central-1"},
		"arn:aws:secretsmanager:eu-central-1:111122223333:secret:key", time.Hour)
	value, err := key.Value(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(value))
}
