package bucket_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/bucket"
)

// A function reads an object of its bucket. Here a server stands in for Amazon S3; the configuration of a function is
// Environment.AWS of package kit.
func ExampleBucket_Read() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/reports/daily.csv" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
			return
		}
		fmt.Fprint(w, "seat,nights")
	}))
	defer server.Close()
	reports := bucket.New(aws.Config{Region: "eu-central-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}, "reports", "text/csv")
	body, found, err := reports.Read(context.Background(), "daily.csv")
	fmt.Println(string(body), found, err)
	_, found, err = reports.Read(context.Background(), "weekly.csv")
	fmt.Println(found, err)
	// Output:
	// seat,nights true <nil>
	// false <nil>
}
