package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	endpoint "github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/aws/awstest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	buckets "github.com/onesynth-cdk/onesynth/run/internal/services/s3"
)

const everything = `[{"Effect": "Allow", "Action": "*", "Resource": "*"}]`

type s3Fixture struct {
	*s3.Client
	server *endpoint.Server
	store  *buckets.Store
	url    string
}

// startS3 serves the bucket lake to the function asker of awstest. The statements are its role's. The client is the
// SDK's, made as functions make it, without an option for path style.
func startS3(t testing.TB, statements string) *s3Fixture {
	t.Helper()
	loaded := assemblytest.Load(t, `{"Lake": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "lake"}},
		"Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "reader"}},
		"Policy": {"Type": "AWS::IAM::Policy", "Properties": {"Roles": [{"Ref": "Role"}], "PolicyDocument": {"Statement": `+statements+`}}}}`)
	store := must.Get(buckets.New(t.TempDir(), loaded))(t)
	engine := must.Get(dynamodb.NewService(dynamodb.ServiceOptions{EngineURL: "http://127.0.0.1:1"}))(t)
	server := endpoint.New(endpoint.Options{},
		map[string]endpoint.Service{"s3": buckets.NewService(store), "dynamodb": engine})
	config := awstest.Listen(t, server, loaded)
	return &s3Fixture{s3.NewFromConfig(config), server, store, *config.BaseEndpoint}
}

func (f *s3Fixture) put(ctx context.Context, key, content string) error {
	_, err := f.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String("lake"), Key: aws.String(key),
		Body: strings.NewReader(content), ContentType: aws.String("text/plain")})
	return err
}

func (f *s3Fixture) get(ctx context.Context, key, part string) (string, error) {
	input := &s3.GetObjectInput{Bucket: aws.String("lake"), Key: aws.String(key)}
	if part != "" {
		input.Range = aws.String(part)
	}
	output, err := f.GetObject(ctx, input)
	if err != nil {
		return "", err
	}
	defer output.Body.Close()
	text, err := io.ReadAll(output.Body)
	return string(text), err
}

func (f *s3Fixture) list(ctx context.Context, prefix *string) ([]string, error) {
	var names []string
	pages := s3.NewListObjectsV2Paginator(f.Client,
		&s3.ListObjectsV2Input{Bucket: aws.String("lake"), Prefix: prefix, MaxKeys: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, object := range page.Contents {
			names = append(names, aws.ToString(object.Key))
		}
	}
	return names, nil
}

func code(err error) string {
	var failure smithy.APIError
	if errors.As(err, &failure) {
		return failure.ErrorCode()
	}
	return fmt.Sprint(err)
}

func TestS3(t *testing.T) {
	t.Parallel()
	f := startS3(t, everything)
	ctx := t.Context()
	const long = "entity=task/event_date=2026-01-31/ünï+code %.parquet"
	for i, key := range []string{"b", "a/2", "a/1", long, "a/3"} {
		must.OK(t, f.put(ctx, key, strings.Repeat(fmt.Sprint(i), 10)))
	}
	t.Run("Get", func(t *testing.T) {
		for part, want := range map[string]string{"": "3333333333", "bytes=2-4": "333", "bytes=-2": "33",
			"bytes=9-": "3"} {
			if got, err := f.get(ctx, long, part); err != nil || got != want {
				t.Errorf("%s: got %q, %v", part, got, err)
			}
		}
		if _, err := f.get(ctx, "b", "bytes=100-"); code(err) != "InvalidRange" {
			t.Errorf("got %v", err)
		}
		if _, err := f.get(ctx, "missing", ""); code(err) != "NoSuchKey" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("Head", func(t *testing.T) {
		head, err := f.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String("lake"), Key: aws.String("b")})
		if err != nil || aws.ToInt64(head.ContentLength) != 10 || aws.ToString(head.ContentType) != "text/plain" ||
			head.LastModified == nil {
			t.Errorf("got %+v, %v", head, err)
		}
		if _, err := f.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String("lake"),
			Key: aws.String("missing")}); code(err) != "NotFound" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("List", func(t *testing.T) {
		got, err := f.list(ctx, nil)
		if difference := cmp.Diff([]string{"a/1", "a/2", "a/3", "b", long}, got); err != nil || difference != "" {
			t.Errorf("%v %s", err, difference)
		}
		if got, err := f.list(ctx, aws.String("a/")); err != nil || !slices.Equal(got, []string{"a/1", "a/2", "a/3"}) {
			t.Errorf("got %v, %v", got, err)
		}
		page, err := f.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String("lake"),
			Delimiter: aws.String("/")})
		if err != nil || len(page.CommonPrefixes) != 2 || len(page.Contents) != 1 {
			t.Errorf("got %+v, %v", page, err)
		}
	})
	t.Run("Delete", func(t *testing.T) {
		if _, err := f.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String("lake"),
			Key: aws.String("b")}); err != nil {
			t.Error(err)
		}
		output, err := f.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: aws.String("lake"),
			Delete: &s3types.Delete{Objects: []s3types.ObjectIdentifier{
				{Key: aws.String("a/1")}, {Key: aws.String("a/2")}, {Key: aws.String("gone already")},
			}}})
		if err != nil || len(output.Deleted) != 3 || len(output.Errors) != 0 {
			t.Errorf("got %+v, %v", output, err)
		}
		if got, err := f.list(ctx, nil); err != nil || !slices.Equal(got, []string{"a/3", long}) {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("Copy", func(t *testing.T) {
		must.Get(f.CopyObject(ctx, &s3.CopyObjectInput{Bucket: aws.String("lake"), Key: aws.String("copy"),
			CopySource: aws.String("lake/a/3")}))(t)
		if got, err := f.get(ctx, "copy", ""); err != nil || got != "4444444444" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("Conditions", func(t *testing.T) {
		_, err := f.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String("lake"), Key: aws.String("a/3"),
			Body: strings.NewReader("x"), IfNoneMatch: aws.String("*")})
		if code(err) != "PreconditionFailed" {
			t.Errorf("got %v", err)
		}
		_, err = f.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String("lake"), Key: aws.String("new"),
			Body: strings.NewReader("x"), IfNoneMatch: aws.String("*")})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("Multipart", func(t *testing.T) {
		key := aws.String("parts")
		upload := must.Get(f.CreateMultipartUpload(ctx,
			&s3.CreateMultipartUploadInput{Bucket: aws.String("lake"), Key: key}))(t)
		var done []s3types.CompletedPart
		for n := range int32(2) {
			part := must.Get(f.UploadPart(ctx, &s3.UploadPartInput{Bucket: aws.String("lake"), Key: key,
				UploadId: upload.UploadId, PartNumber: aws.Int32(n + 1),
				Body: bytes.NewReader(bytes.Repeat([]byte{byte('0' + n)}, 5<<20))}))(t)
			done = append(done, s3types.CompletedPart{ETag: part.ETag, PartNumber: aws.Int32(n + 1)})
		}
		must.Get(f.CompleteMultipartUpload(ctx,
			&s3.CompleteMultipartUploadInput{Bucket: aws.String("lake"), Key: key, UploadId: upload.UploadId,
				MultipartUpload: &s3types.CompletedMultipartUpload{Parts: done}}))(t)
		if got, err := f.get(ctx, "parts", "bytes=5242879-5242880"); err != nil || got != "01" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("KeepsNoCredentials", func(t *testing.T) {
		response := must.Get(http.DefaultClient.Do(s3Request(t, f, http.MethodGet, "/lake/a/3")))(t)
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Fatalf("got %s", response.Status)
		}
		for name, values := range response.Header {
			if strings.Contains(strings.Join(values, " "), "session") || strings.HasPrefix(name, "X-Amz-Security") ||
				name == "X-Amz-Date" {
				t.Errorf("got back %s: %v", name, values)
			}
		}
	})
	t.Run("NoSuchBucket", func(t *testing.T) {
		if _, err := f.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String("other-bucket")}); code(
			err) != "NoSuchBucket" {
			t.Errorf("got %v", err)
		}
	})
}

// s3Request makes a request as the function asker would.
func s3Request(t *testing.T, f *s3Fixture, method, path string) *http.Request {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), method, f.url+path, nil))(t)
	request.Header.Set("Authorization", awstest.Signed(awstest.AccessKey, "us-east-1", "s3"))
	return request
}

func TestS3RefusesWhatItDoesNotServe(t *testing.T) {
	t.Parallel()
	f := startS3(t, everything)
	must.OK(t, f.put(t.Context(), "a", "x"))
	for request, change := range map[string]func(*http.Request){
		"GET /":                       nil,
		"PUT /new-bucket":             nil,
		"DELETE /lake":                nil,
		"GET /lake?versions":          nil,
		"GET /lake?acl":               nil,
		"GET /lake/a?tagging":         nil,
		"GET /lake/a?versionId=1":     nil,
		"DELETE /lake/a?versionId=1":  nil,
		"POST /lake/a?select&uploads": nil,
		"GET /lake?encoding-type=url": nil,
		"PUT /lake/a?uploadId=u":      func(r *http.Request) { r.Header.Set("X-Amz-Copy-Source", "lake/b") },
		"PUT /lake/a": func(r *http.Request) {
			r.Header.Set("X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
		},
		"POST /lake/a":                  nil,
		"GET /lake?list-type=2&uploads": nil,
	} {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			method, path, _ := strings.Cut(request, " ")
			asked := s3Request(t, f, method, path)
			if change != nil {
				change(asked)
			}
			response := must.Get(http.DefaultClient.Do(asked))(t)
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != http.StatusNotImplemented ||
				!strings.Contains(string(text), "<Code>NotImplemented</Code>") ||
				!strings.Contains(string(text), "does not serve") {
				t.Errorf("got %s %s, %v", response.Status, text, err)
			}
		})
	}
}

func TestS3KeepsToTheRole(t *testing.T) {
	t.Parallel()
	const lister = `{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::lake", "Condition": {"StringLike": {"s3:prefix": "events/*"}}}`
	grant := func(actions ...string) string {
		return fmt.Sprintf(`{"Effect": "Allow", "Action": ["%s"], "Resource": "arn:aws:s3:::lake/events/*"}`,
			strings.Join(actions, `","`))
	}
	for name, test := range map[string]struct {
		statements []string
		do         func(*s3Fixture, context.Context) error
		code       string // of the refusal; empty when it is allowed
	}{
		"Put": {[]string{grant("s3:PutObject")}, func(f *s3Fixture, ctx context.Context) error {
			return f.put(ctx, "events/b", "x")
		}, ""},
		"PutElsewhere": {[]string{grant("s3:PutObject")}, func(f *s3Fixture, ctx context.Context) error {
			return f.put(ctx, "results/b", "x")
		}, "AccessDenied"},
		"PutWithoutGrant": {[]string{grant("s3:GetObject")}, func(f *s3Fixture, ctx context.Context) error {
			return f.put(ctx, "events/b", "x")
		}, "AccessDenied"},
		"Get": {[]string{grant("s3:GetObject")}, func(f *s3Fixture, ctx context.Context) error {
			_, err := f.get(ctx, "events/a", "")
			return err
		}, ""},
		"GetWithoutGrant": {[]string{grant("s3:PutObject"), lister}, func(f *s3Fixture, ctx context.Context) error {
			_, err := f.get(ctx, "events/a", "")
			return err
		}, "AccessDenied"},
		"GetMissing": {[]string{grant("s3:GetObject"), lister}, func(f *s3Fixture, ctx context.Context) error {
			_, err := f.get(ctx, "events/z", "")
			return err
		}, "AccessDenied"},
		"GetMissingListing": {[]string{grant("s3:GetObject"),
			`{"Effect": "Allow", "Action": "s3:List*", "Resource": "*"}`},
			func(f *s3Fixture, ctx context.Context) error {
				_, err := f.get(ctx, "events/z", "")
				return err
			}, "NoSuchKey"},
		"List": {[]string{lister}, func(f *s3Fixture, ctx context.Context) error {
			_, err := f.list(ctx, aws.String("events/entity=task/"))
			return err
		}, ""},
		"ListAll": {[]string{lister}, func(f *s3Fixture, ctx context.Context) error {
			_, err := f.list(ctx, nil)
			return err
		}, "AccessDenied"},
		"ListElsewhere": {[]string{lister}, func(f *s3Fixture, ctx context.Context) error {
			_, err := f.list(ctx, aws.String("results/"))
			return err
		}, "AccessDenied"},
		"Delete": {[]string{grant("s3:DeleteObject")}, func(f *s3Fixture, ctx context.Context) error {
			_, err := f.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String("lake"),
				Key: aws.String("events/a")})
			return err
		}, ""},
		"DeleteWithoutGrant": {[]string{grant("s3:PutObject")}, func(f *s3Fixture, ctx context.Context) error {
			_, err := f.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String("lake"),
				Key: aws.String("events/a")})
			return err
		}, "AccessDenied"},
		"DeleteOneElsewhere": {[]string{grant("s3:DeleteObject")}, func(f *s3Fixture, ctx context.Context) error {
			_, err := f.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: aws.String("lake"),
				Delete: &s3types.Delete{Objects: []s3types.ObjectIdentifier{
					{Key: aws.String("events/a")}, {Key: aws.String("results/a")}}}})
			return err
		}, "AccessDenied"},
		"CopyWithoutRead": {[]string{grant("s3:PutObject")}, func(f *s3Fixture, ctx context.Context) error {
			_, err := f.CopyObject(ctx, &s3.CopyObjectInput{Bucket: aws.String("lake"), Key: aws.String("events/b"),
				CopySource: aws.String("lake/events/a")})
			return err
		}, "AccessDenied"},
		"Multipart": {[]string{grant("s3:GetObject")}, func(f *s3Fixture, ctx context.Context) error {
			_, err := f.CreateMultipartUpload(ctx,
				&s3.CreateMultipartUploadInput{Bucket: aws.String("lake"), Key: aws.String("events/b")})
			return err
		}, "AccessDenied"},
		"DenyWithoutTLS": {[]string{grant("s3:PutObject"),
			`{"Effect": "Deny", "Action": "s3:*", "Resource": "*", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}`},
			func(f *s3Fixture, ctx context.Context) error { return f.put(ctx, "events/b", "x") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startS3(t, "["+strings.Join(test.statements, ",")+"]")
			must.Get(f.store.Backend().PutObject("lake", "events/a", nil, strings.NewReader("x"), 1,
				nil))(t)
			err := test.do(f, t.Context())
			if test.code == "" && err != nil || test.code != "" && code(err) != test.code {
				t.Errorf("got %v, want %q", err, test.code)
			}
			if bucket, err := f.store.Bucket("lake"); test.code != "" && (err != nil || bucket.Objects != 1) {
				t.Errorf("the refused request did something: %+v, %v", bucket, err)
			}
		})
	}
}

// A condition on the region looks at the request: ARNs of buckets have no region.
func TestS3InRegion(t *testing.T) {
	t.Parallel()
	f := startS3(t, `[{"Effect": "Allow", "Action": ["s3:*", "dynamodb:ListTables"], "Resource": "*"},
		{"Effect": "Deny", "NotAction": "iam:*", "Resource": "*", "Condition": {"StringNotEquals": {"aws:RequestedRegion": "eu-west-1"}}}]`)
	for _, test := range []struct{ region, want string }{{"eu-west-1", "<nil>"}, {"us-east-1", "AccessDenied"},
		{"eu-west-1", "<nil>"}} {
		for range 2 { // decided, and remembered
			_, err := f.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("lake"), Key: aws.String("a"),
				Body: strings.NewReader("x")},
				func(o *s3.Options) { o.Region = test.region })
			if got := code(err); got != test.want {
				t.Errorf("in %s: got %s, want %s", test.region, got, test.want)
			}
		}
	}
	// Actions without a resource are decided by region, too.
	for _, test := range []struct {
		region string
		denied bool
	}{{"eu-west-1", false}, {"us-east-1", true}, {"eu-west-1", false}} {
		_, text, err := awstest.Exchange(t, http.MethodPost, f.url+"/", "{}", http.Header{
			"X-Amz-Target":  {"DynamoDB_20120810.ListTables"},
			"Authorization": {awstest.Signed(awstest.AccessKey, test.region, "dynamodb")}})
		if denied := strings.Contains(text, "explicit deny"); err != nil || denied != test.denied {
			t.Errorf("in %s: got %s, %v", test.region, text, err)
		}
	}
}

func TestS3RecordsUse(t *testing.T) {
	t.Parallel()
	f := startS3(t,
		`[{"Effect": "Allow", "Action": ["s3:PutObject", "s3:GetObject"], "Resource": "arn:aws:s3:::lake/events/*"}]`)
	for n := range 120 {
		must.OK(t, f.put(t.Context(), fmt.Sprintf("events/%d", n), "x"))
	}
	for range 2 {
		if err := f.put(t.Context(), "other", "x"); code(err) != "AccessDenied" ||
			!strings.Contains(err.Error(), "not authorized to perform: s3:PutObject on resource: "+
				"arn:aws:s3:::lake/other") {
			t.Errorf("got %v", err)
		}
	}
	use := endpoint.Use{Function: "asker", Action: "s3:PutObject", Resource: "arn:aws:s3:::lake/events/*"}
	if got := f.server.Used(); !slices.Equal(got, []endpoint.Use{use}) {
		t.Errorf("got %+v", got)
	}
	use.Resource = "arn:aws:s3:::lake/other"
	if got := f.server.Refused(); !slices.Equal(got, []endpoint.Refusal{{Use: use, Times: 2}}) {
		t.Errorf("got %+v", got)
	}
	for _, got := range [][]policy.Grant{f.server.UnusedGrants("asker"), f.server.UnneededGrants("asker")} {
		if len(got) != 1 || got[0].Action != "s3:GetObject" {
			t.Errorf("got %v", got)
		}
	}
	if got := len(f.server.Allowed("asker")); got != 100 {
		t.Errorf("got %d requests of 120; want no more than 100", got)
	}
	rows := f.server.Capacity()
	if len(rows) != 1 || rows[0].Bucket != "lake" || rows[0].Table != "" || rows[0].Operation != "PutObject" ||
		rows[0].Requests != 120 || rows[0].Time <= 0 {
		t.Errorf("got %+v", rows)
	}
}

func TestS3Faults(t *testing.T) {
	t.Parallel()
	t.Run("Throttle", func(t *testing.T) {
		t.Parallel()
		f := startS3(t, everything)
		must.OK(t, f.server.SetFaults(endpoint.Faults{Throttle: 1}))
		var status interface{ HTTPStatusCode() int }
		if err := f.put(t.Context(), "a", "x"); code(err) != "SlowDown" || !errors.As(err, &status) ||
			status.HTTPStatusCode() != http.StatusServiceUnavailable {
			t.Errorf("got %v", err)
		}
		for range 20 {
			if err := f.put(t.Context(), "a", strings.Repeat("x", 1<<20)); code(err) != "SlowDown" {
				t.Fatalf("a long request got %v", err)
			}
		}
		if f.store.Exists("lake", "a") {
			t.Error("a refused request stored the object")
		}
	})
	t.Run("DropResponse", func(t *testing.T) {
		t.Parallel()
		f := startS3(t, everything)
		must.OK(t, f.server.SetFaults(endpoint.Faults{DropResponse: 1}))
		if err := f.put(t.Context(), "a", "x"); err == nil {
			t.Error("the answer came")
		}
		if !f.store.Exists("lake", "a") {
			t.Error("the request was not done")
		}
	})
	t.Run("SDKRetries", func(t *testing.T) {
		t.Parallel()
		f := startS3(t, everything)
		patient := s3.New(f.Client.Options(), func(o *s3.Options) {
			o.RetryMaxAttempts = 100
			o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
				o.RateLimiter = ratelimit.None
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) {
					return time.Millisecond, nil
				})
			})
		})
		must.OK(t, f.server.SetFaults(endpoint.Faults{Throttle: 0.5, Seed: 3}))
		for n := range 5 {
			must.Get(patient.PutObject(t.Context(),
				&s3.PutObjectInput{Bucket: aws.String("lake"), Key: aws.String(fmt.Sprint(n)),
					Body: strings.NewReader("x")}))(t)
		}
		if f.server.Throttled() == 0 {
			t.Error("no fault came")
		}
	})
}

// BenchmarkS3 puts and gets objects of 64 KB, about what a batch of a stream makes.
func BenchmarkS3(b *testing.B) {
	f := startS3(b, everything)
	content := strings.Repeat("x", 64<<10)
	b.Run("Put", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		for n := 0; b.Loop(); n++ {
			must.OK(b, f.put(b.Context(), fmt.Sprint("events/", n), content))
		}
	})
	b.Run("Get", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		for b.Loop() {
			must.Get(f.get(b.Context(), "events/0", ""))(b)
		}
	})
}
