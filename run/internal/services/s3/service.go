package s3

// Requests of functions: what IAM asks for each, and their errors.

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
)

// Service is S3 at the endpoint of functions. Make one with NewService.
type Service struct {
	store *Store
	inner http.Handler
}

// NewService serves the objects of buckets with the bucket in the path: the form that SDKs choose by themselves when
// the endpoint is an IP address.
func NewService(store *Store) *Service {
	// Buckets are versioned or not as the template says; a local run keeps no versions.
	return &Service{store: store, inner: gofakes3.New(store.Backend(), gofakes3.WithoutVersioning()).Server()}
}

// operation is an operation of S3 that is served, with what IAM asks for: "Actions, resources, and condition keys for
// Amazon S3" (AWS).
type operation struct {
	name, action string
	// ofBucket says that the resource is the bucket, not the object.
	ofBucket bool
}

// operations are found by the method, what the path names, and the query parameter that tells operations apart.
var operations = map[string]operation{
	"GET bucket":             {"ListObjects", "s3:ListBucket", true},
	"GET bucket list-type":   {"ListObjectsV2", "s3:ListBucket", true},
	"HEAD bucket":            {"HeadBucket", "s3:ListBucket", true},
	"GET bucket location":    {"GetBucketLocation", "s3:GetBucketLocation", true},
	"GET bucket uploads":     {"ListMultipartUploads", "s3:ListBucketMultipartUploads", true},
	"POST bucket delete":     {"DeleteObjects", "s3:DeleteObject", false},
	"GET object":             {"GetObject", "s3:GetObject", false},
	"HEAD object":            {"HeadObject", "s3:GetObject", false},
	"PUT object":             {"PutObject", "s3:PutObject", false},
	"DELETE object":          {"DeleteObject", "s3:DeleteObject", false},
	"POST object uploads":    {"CreateMultipartUpload", "s3:PutObject", false},
	"PUT object uploadId":    {"UploadPart", "s3:PutObject", false},
	"POST object uploadId":   {"CompleteMultipartUpload", "s3:PutObject", false},
	"DELETE object uploadId": {"AbortMultipartUpload", "s3:AbortMultipartUpload", false},
	"GET object uploadId":    {"ListParts", "s3:ListMultipartUploadParts", false},
}

// distinguishing are the parameters in the keys of operations, and parameters others that these operations take. A
// request with any other parameter, such as acl or versionId, is for an operation that is not served.
var (
	distinguishing = []string{"list-type", "location", "uploads", "delete", "uploadId"}
	parameters     = []string{
		"x-id", "prefix", "delimiter", "max-keys", "continuation-token", "start-after", "fetch-owner", "marker",
		"partNumber",
		"max-uploads", "key-marker", "upload-id-marker", "max-parts", "part-number-marker",
		"response-content-type", "response-content-disposition", "response-content-encoding", "response-cache-control",
	}
)

func findOperation(method string, object bool, query url.Values) (operation, bool) {
	id := method + " bucket"
	if object {
		id = method + " object"
	}
	for name := range query {
		switch {
		case slices.Contains(distinguishing, name):
			id += " " + name
		case !slices.Contains(parameters, name):
			return operation{}, false
		}
	}
	found, ok := operations[id]
	return found, ok
}

// failure is an error in S3's shape ("Error responses", Amazon S3 API Reference).
type failure struct {
	XMLName xml.Name `xml:"Error"`
	Code    string   `xml:"Code"`
	Message string   `xml:"Message"`
	status  int
}

func (f *failure) Error() string { return f.Code + ": " + f.Message }

func notServed(what string) error {
	return &failure{Code: "NotImplemented", Message: "onesynth local does not serve " + what + " of s3",
		status: http.StatusNotImplemented}
}

// slowDown is the error of a call that comes too fast.
func slowDown(func(int) int) error {
	return &failure{Code: "SlowDown", Message: "Please reduce your request rate.",
		status: http.StatusServiceUnavailable}
}

const arn = "arn:aws:s3:::"

// object is what a call is for.
type object struct{ bucket, key, action string }

// Needs implements [aws.Service].
func (s *Service) Needs(call *aws.Call) ([]aws.Permission, error) {
	r := call.Request
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	found, ok := findOperation(r.Method, key != "", r.URL.Query())
	if !ok || bucket == "" {
		return nil, notServed(r.Method + " " + r.URL.RequestURI())
	}
	call.Operation, call.Bucket, call.Body, call.Input = found.name, bucket, []byte(key),
		object{bucket, key, found.action}
	call.Failures.Throttled = slowDown
	if payload := r.Header.Get("X-Amz-Content-Sha256"); strings.HasSuffix(payload, "-TRAILER") {
		return nil, notServed(payload)
	}
	needed := aws.Permission{Action: found.action, Resource: arn + bucket + "/" + key, Object: true}
	switch source := r.Header.Get("X-Amz-Copy-Source"); {
	case found.ofBucket:
		needed.Resource = arn + bucket
		if query := r.URL.Query(); query.Has("prefix") {
			needed.Conditions = map[string]string{policy.S3Prefix: query.Get("prefix")}
		}
	case found.name == "DeleteObjects":
		return deletions(r, bucket)
	case source != "" && found.name != "PutObject":
		return nil, notServed("UploadPartCopy")
	case source != "":
		from, err := url.QueryUnescape(strings.TrimPrefix(source, "/"))
		if err != nil {
			return nil, &failure{Code: "InvalidArgument", Message: "X-Amz-Copy-Source: " + err.Error(),
				status: http.StatusBadRequest}
		}
		return []aws.Permission{{Action: "s3:GetObject", Resource: arn + from, Object: true}, needed}, nil
	}
	return []aws.Permission{needed}, nil
}

// deletions refuses the whole request when one of its keys may not be deleted; AWS would delete the others.
func deletions(r *http.Request, bucket string) (needed []aws.Permission, err error) {
	// 1,000 keys of 1 KB, escaped.
	const most = 8 << 20
	text, err := io.ReadAll(io.LimitReader(r.Body, most))
	if err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	var in gofakes3.DeleteRequest
	if err := xml.Unmarshal(text, &in); err != nil || len(in.Objects) == 0 || len(in.Objects) > 1000 {
		return nil, &failure{Code: "MalformedXML", Message: "The XML you provided was not well-formed or did not " +
			"validate against our published schema: a list of 1 to 1,000 keys is needed.",
			status: http.StatusBadRequest}
	}
	for _, object := range in.Objects {
		if object.VersionID != "" {
			return nil, notServed("the deletion of a version")
		}
		needed = append(needed, aws.Permission{Action: "s3:DeleteObject", Resource: arn + bucket + "/" + object.Key,
			Object: true})
	}
	r.Body = io.NopCloser(strings.NewReader(string(text)))
	return needed, nil
}

// Serve implements [aws.Service].
func (s *Service) Serve(w http.ResponseWriter, call *aws.Call) error {
	of := call.Input.(object)
	// A caller who may not list the bucket does not learn that an object is missing: "GetObject", permissions (Amazon
	// S3 API Reference). A condition on s3:prefix does not allow it: a read has no prefix.
	listing := aws.Permission{Action: "s3:ListBucket", Resource: arn + of.bucket}
	if of.action == "s3:GetObject" && !s.store.Exists(of.bucket, of.key) && !call.Allows(listing) {
		return call.Denied(listing)
	}
	// An answer that is broken off counts, too.
	defer func(began time.Time) {
		call.Worked, call.Consumed = time.Since(began), []aws.Consumed{{Bucket: of.bucket}}
	}(time.Now())
	s.inner.ServeHTTP(w, call.Request)
	return nil
}

// Refuse implements [aws.Service]. It first reads the rest of the request: a client that cannot send might not read the
// answer.
func (*Service) Refuse(w http.ResponseWriter, call *aws.Call, err error) {
	if call.Request.Header.Get("Expect") == "" {
		_, _ = io.Copy(io.Discard, call.Request.Body)
	}
	var failed *failure
	var denied *aws.DeniedError
	var unsigned *aws.Failure
	switch {
	case errors.As(err, &failed):
	case errors.As(err, &unsigned):
		failed = &failure{Code: unsigned.Type, Message: unsigned.Message, status: unsigned.Status}
	case errors.As(err, &denied):
		failed = &failure{Code: "AccessDenied", Message: denied.Error(), status: http.StatusForbidden}
	default:
		failed = &failure{Code: "InternalError", Message: err.Error(), status: http.StatusInternalServerError}
	}
	text, err := xml.Marshal(failed)
	if err != nil {
		text = nil
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(failed.status)
	_, _ = w.Write(append([]byte(xml.Header), text...))
}
