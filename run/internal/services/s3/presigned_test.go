package s3_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/objects"
	endpoint "github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/aws/awstest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	buckets "github.com/onesynth-cdk/onesynth/run/internal/services/s3"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// openLake returns the bucket lake as a function with the fixture's role uses it.
func openLake(t *testing.T, f *s3Fixture) *objects.Bucket {
	t.Helper()
	b := must.Get(objects.Open(kit.Environment{
		AWS: aws.Config{Region: "us-east-1", BaseEndpoint: &f.url,
			Credentials: credentials.NewStaticCredentialsProvider(awstest.AccessKey, endpoint.Secret, "")},
		Getenv: func(string) string { return "lake" },
	}, schema.Bucket{Variable: "FILES_BUCKET"}))(t)
	return b
}

// Callers upload and download by URLs that the function has signed: what it has bounded, and what its role allows.
func TestPresigned(t *testing.T) {
	t.Parallel()
	f := startS3(t, `[{"Effect": "Allow", "Action": ["s3:PutObject", "s3:GetObject"],
		"Resource": "arn:aws:s3:::lake/in/*"}]`)
	b := openLake(t, f)
	limits := objects.Limits{Types: []string{"text/plain"}, Bytes: 10}
	upload, err := b.Upload(t.Context(), "in/größe 1", "text/plain", 5, limits)
	if err != nil || time.Until(upload.Expires) > objects.DefaultExpiry {
		t.Fatalf("got %v, %v", upload, err)
	}
	download := must.Get(b.Download(t.Context(), "in/größe 1", "größe.txt", 0))(t)
	forbidden := must.Get(b.Upload(t.Context(), "out/1", "text/plain", 5, limits))(t)
	const differs = "SignatureDoesNotMatch"
	plain := http.Header{"Content-Type": {"text/plain"}}
	later := strings.Replace(upload.URL, "X-Amz-Expires=300", "X-Amz-Expires=3000", 1)
	old, _, _ := strings.Cut(upload.URL, "X-Amz-Date=")
	old += "X-Amz-Date=20200101T000000Z&X-Amz-Expires=300&X-Amz-SignedHeaders=host&X-Amz-Signature=x"
	for name, test := range map[string]struct {
		method, url, body string
		header            http.Header
		status            int
		says              string
	}{
		"ErrType":    {"PUT", upload.URL, "hello", http.Header{"Content-Type": {"text/html"}}, 403, differs},
		"ErrSize":    {"PUT", upload.URL, "hello, world", plain, 403, differs},
		"ErrMethod":  {"DELETE", upload.URL, "", nil, 403, differs},
		"ErrKey":     {"PUT", strings.Replace(upload.URL, "/in/", "/in/in/", 1), "hello", plain, 403, differs},
		"ErrLonger":  {"PUT", later, "hello", plain, 403, differs},
		"ErrExpired": {"PUT", old, "hello", plain, 403, "Request has expired"},
		"ErrForever": {"PUT", strings.Replace(upload.URL, "X-Amz-Expires=300", "X-Amz-Expires=700000", 1), "hello",
			plain, 400, "1 to 604800"},
		"ErrRole": {"PUT", forbidden.URL, "hello", plain, 403, "not authorized to perform: s3:PutObject"},
		"ErrService": {"GET", f.url + "/?X-Amz-Credential=ASKERKEY%2F20200101%2Fus-east-1%2Fsqs%2Faws4_request", "",
			nil, 400, "Request is missing Authentication Token"},
	} {
		if response, text, err := awstest.Exchange(t, test.method, test.url, test.body, test.header); err != nil ||
			response.StatusCode != test.status || !strings.Contains(text, test.says) {
			t.Errorf("%s: got %v %s, %v, want %d %s", name, response, text, err, test.status, test.says)
		}
	}
	if response, text, err := awstest.Exchange(t, "PUT", upload.URL, "hello", plain); err != nil ||
		response.StatusCode != 200 {
		t.Fatalf("upload: got %v %s, %v", response, text, err)
	}
	response, text, err := awstest.Exchange(t, "GET", download.URL, "", nil)
	if err != nil || response.StatusCode != 200 || text != "hello" ||
		!strings.HasPrefix(response.Header.Get("Content-Disposition"), "attachment; filename") {
		t.Errorf("download: got %v %s, %v", response, text, err)
	}
}

// A function signs nothing beyond the limits.
func TestUploadLimits(t *testing.T) {
	t.Parallel()
	b := openLake(t, startS3(t, everything))
	limits := objects.Limits{Types: []string{"image/png", "image/jpeg"}, Bytes: 10}
	for name, test := range map[string]struct {
		kind   string
		size   int64
		limits objects.Limits
		field  string
	}{
		"ErrType":   {"text/html", 5, limits, "content_type"},
		"ErrSize":   {"image/png", 11, limits, "size"},
		"ErrEmpty":  {"image/png", 0, limits, "size"},
		"ErrTypes":  {"image/png", 5, objects.Limits{Bytes: 10}, ""},
		"ErrBytes":  {"image/png", 5, objects.Limits{Types: limits.Types}, ""},
		"ErrExpiry": {"image/png", 5, objects.Limits{Types: limits.Types, Bytes: 10, Expiry: 2 * time.Hour}, ""},
	} {
		signed, err := b.Upload(t.Context(), "in/1", test.kind, test.size, test.limits)
		wrong, ok := errors.AsType[*validate.Error](err)
		if err == nil || signed.URL != "" || ok != (test.field != "") || ok && wrong.Problems[0].Field != test.field {
			t.Errorf("%s: got %v, %v, want an error of %q", name, signed, err, test.field)
		}
	}
}

// Pages use presigned URLs if the bucket's CORS configuration allows them.
func TestPages(t *testing.T) {
	t.Parallel()
	store := must.Get(buckets.New(t.TempDir(), assemblytest.Load(t,
		`{"Lake": {"Type": "AWS::S3::Bucket", "Properties": {
		"BucketName": "lake", "CorsConfiguration": {"CorsRules": [{"AllowedMethods": ["GET", "PUT"],
		"AllowedHeaders": ["content-type"], "AllowedOrigins": ["https://*.example.com"], "MaxAge": 300}]}}}}`)))(t)
	pages := store.Pages(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }))
	for name, test := range map[string]struct {
		path, origin, method, headers string
		allowed                       bool
	}{
		"OK":        {"/lake/1", "https://app.example.com", "PUT", "content-type", true},
		"NoHeaders": {"/lake/1", "https://app.example.com", "GET", "", true},
		"ErrOrigin": {"/lake/1", "https://example.org", "PUT", "content-type", false},
		"ErrMethod": {"/lake/1", "https://app.example.com", "DELETE", "", false},
		"ErrHeader": {"/lake/1", "https://app.example.com", "PUT", "content-type, x-other", false},
		"ErrBucket": {"/other/1", "https://app.example.com", "PUT", "", false},
	} {
		asked := httptest.NewRequest("OPTIONS", test.path, nil)
		asked.Header.Set("Origin", test.origin)
		asked.Header.Set("Access-Control-Request-Method", test.method)
		asked.Header.Set("Access-Control-Request-Headers", test.headers)
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, asked)
		if allowed := answer.Code == 200; allowed != test.allowed ||
			allowed && answer.Header().Get("Access-Control-Allow-Origin") != test.origin {
			t.Errorf("%s: got %d %v, want it allowed: %t", name, answer.Code, answer.Header(), test.allowed)
		}
		sent := httptest.NewRequest("PUT", test.path+"?X-Amz-Credential=x", nil)
		sends := test.origin != "https://example.org" && test.path != "/other/1"
		if got := store.Allows(sent, test.origin); got != sends {
			t.Errorf("%s: a page may send a presigned request: got %t, want %t", name, got, sends)
		}
		if unsigned := httptest.NewRequest("PUT", test.path, nil); store.Allows(unsigned, test.origin) {
			t.Errorf("%s: a page may send a request without a signature", name)
		}
	}
}
