package recipes

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/onesynth-cdk/onesynth/constructs/bucket"
	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

// Bucket keeps each task of To-Do that is completed as a file of a bucket, for two years. It is for what others fetch
// or archive. The function may put objects below done/, and do nothing else with the bucket.
//
// Change the event, the prefix and the years. A function that reads objects gets [bucket.Bucket.AllowGet], and one that
// runs for each new object is the Function of [bucket.NewTrigger].
func Bucket(stack awscdk.Stack, build *gofunction.Build) {
	p := todo.New(stack, "Todo", todo.Props{Props: platform.Props{Events: true, Build: build}})
	done := bucket.New(stack, bucket.Props{Objects: "done/", RetentionDays: 2 * 365, LogPrefix: "done/"})
	keeper := gofunction.New(stack, "Keeper", gofunction.Props{
		Build: build, Name: "keeper", Environment: map[string]string{"DONE_BUCKET": *done.Resource.BucketName()},
	})
	done.AllowPut(keeper, "done/")
	p.On("TaskCompleted", eventbus.Target{Function: keeper})
}
