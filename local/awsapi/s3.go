package awsapi

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

	"github.com/onesynth-cdk/onesynth/local/buckets"
	"github.com/onesynth-cdk/onesynth/local/policy"
)

func newS3(store *buckets.Store) http.Handler {
	// Buckets are versioned or not as the template says; a local run keeps no versions.
	return gofakes3.New(store.Backend(), gofakes3.WithoutVersioning()).Server()
}

// s3Operation is an operation of S3 that is served, with what IAM asks for: "Actions, resources, and condition keys for Amazon
// S3" (AWS).
type s3Operation struct {
	name, action string
	// ofBucket says that the resource is the bucket, not the object.
	ofBucket bool
}

// s3Operations are found by the method, what the path names, and the query parameter that tells operations apart.
var s3Operations = map[string]s3Operation{
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

// s3Distinguishing are the parameters in the keys of s3Operations, and s3Parameters others that these operations take. A request
// with any other parameter, such as acl or versionId, is for an operation that is not served.
var (
	s3Distinguishing = []string{"list-type", "location", "uploads", "delete", "uploadId"}
	s3Parameters     = []string{
		"x-id", "prefix", "delimiter", "max-keys", "continuation-token", "start-after", "fetch-owner", "marker", "partNumber",
		"max-uploads", "key-marker", "upload-id-marker", "max-parts", "part-number-marker",
		"response-content-type", "response-content-disposition", "response-content-encoding", "response-cache-control",
	}
)

func findS3Operation(method string, object bool, query url.Values) (s3Operation, bool) {
	id := method + " bucket"
	if object {
		id = method + " object"
	}
	for name := range query {
		switch {
		case slices.Contains(s3Distinguishing, name):
			id += " " + name
		case !slices.Contains(s3Parameters, name):
			return s3Operation{}, false
		}
	}
	operation, ok := s3Operations[id]
	return operation, ok
}

// s3Failure is an error in S3's shape ("Error responses", Amazon S3 API Reference).
type s3Failure struct {
	XMLName xml.Name `xml:"Error"`
	Code    string   `xml:"Code"`
	Message string   `xml:"Message"`
	status  int
}

func (f *s3Failure) Error() string { return f.Code + ": " + f.Message }

// refuseS3 answers with an error. It first reads the rest of the request: a client that cannot send might not read the answer.
func refuseS3(w http.ResponseWriter, r *http.Request, err error) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	var failure *s3Failure
	var denied *DeniedError
	switch {
	case errors.As(err, &failure):
	case errors.As(err, &denied):
		failure = &s3Failure{Code: "AccessDenied", Message: denied.Error(), status: http.StatusForbidden}
	default:
		failure = &s3Failure{Code: "InternalError", Message: err.Error(), status: http.StatusInternalServerError}
	}
	text, err := xml.Marshal(failure)
	if err != nil {
		text = nil
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(failure.status)
	_, _ = w.Write(append([]byte(xml.Header), text...))
}

func notServedByS3(what string) error {
	return &s3Failure{Code: "NotImplemented", Message: "onesynth local does not serve " + what + " of s3", status: http.StatusNotImplemented}
}

// serveS3 serves a request with the bucket in the path: the form that SDKs choose by themselves when the endpoint is an IP
// address.
func (s *Server) serveS3(w *traced, r *http.Request, by *caller) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	operation, ok := findS3Operation(r.Method, key != "", r.URL.Query())
	if !ok || bucket == "" {
		refuseS3(w, r, notServedByS3(r.Method+" "+r.URL.RequestURI()))
		return
	}
	w.Operation, w.Bucket, w.Body = operation.name, bucket, []byte(key)
	if payload := r.Header.Get("X-Amz-Content-Sha256"); strings.HasSuffix(payload, "-TRAILER") {
		refuseS3(w, r, notServedByS3(payload))
		return
	}
	if err := s.authoriseS3(r, by, operation, bucket, key); err != nil {
		refuseS3(w, r, err)
		return
	}
	faults := s.faults.Load()
	if faults != nil && faults.draw(faults.Throttle) {
		refuseS3(w, r, &s3Failure{Code: "SlowDown", Message: "Please reduce your request rate.", status: http.StatusServiceUnavailable})
		return
	}
	drop := faults.dropResponse()
	var answer http.ResponseWriter = w
	if drop {
		answer = discard{http.Header{}}
	}
	started := time.Now()
	s.s3.ServeHTTP(answer, r)
	s.capacity.addS3(by.function, bucket, operation.name, time.Since(started))
	if drop {
		panic(http.ErrAbortHandler)
	}
}

// discard is a response writer that drops the answer.
type discard struct{ header http.Header }

func (d discard) Header() http.Header          { return d.header }
func (discard) Write(text []byte) (int, error) { return len(text), nil }
func (discard) WriteHeader(int)                {}

const s3ARN = "arn:aws:s3:::"

func (s *Server) authoriseS3(r *http.Request, by *caller, operation s3Operation, bucket, key string) error {
	if operation.ofBucket {
		context := s.context(by, s3ARN+bucket)
		if query := r.URL.Query(); query.Has("prefix") {
			context[policy.S3Prefix] = query.Get("prefix")
		}
		return s.allowS3(by, operation.action, s3ARN+bucket, context)
	}
	if operation.name == "DeleteObjects" {
		return s.authoriseDeleteObjects(r, by, bucket)
	}
	if source := r.Header.Get("X-Amz-Copy-Source"); source != "" {
		if operation.name != "PutObject" {
			return notServedByS3("UploadPartCopy")
		}
		from, err := url.QueryUnescape(strings.TrimPrefix(source, "/"))
		if err != nil {
			return &s3Failure{Code: "InvalidArgument", Message: "X-Amz-Copy-Source: " + err.Error(), status: http.StatusBadRequest}
		}
		if err := s.allowS3(by, "s3:GetObject", s3ARN+from, s.context(by, s3ARN)); err != nil {
			return err
		}
	}
	if err := s.allowS3(by, operation.action, s3ARN+bucket+"/"+key, s.context(by, s3ARN)); err != nil {
		return err
	}
	// A caller who may not list the bucket does not learn that an object is missing: "GetObject", permissions (Amazon S3 API Reference).
	// A condition on s3:prefix does not allow it: a read has no prefix.
	listing := policy.Request{Action: "s3:ListBucket", Resource: s3ARN + bucket, Context: s.context(by, s3ARN)}
	if operation.action == "s3:GetObject" && !s.options.Buckets.Exists(bucket, key) && by.role.Decide(listing) != policy.Allowed {
		use := Use{Function: by.function, Action: listing.Action, Resource: listing.Resource}
		return &DeniedError{Use: use, Principal: by.principal()}
	}
	return nil
}

// authoriseDeleteObjects refuses the whole request when one of its keys may not be deleted; AWS would delete the others.
func (s *Server) authoriseDeleteObjects(r *http.Request, by *caller, bucket string) error {
	// 1,000 keys of 1 KB, escaped.
	const most = 8 << 20
	text, err := io.ReadAll(io.LimitReader(r.Body, most))
	if err != nil {
		return fmt.Errorf("request body: %w", err)
	}
	var input gofakes3.DeleteRequest
	if err := xml.Unmarshal(text, &input); err != nil || len(input.Objects) == 0 || len(input.Objects) > 1000 {
		return &s3Failure{Code: "MalformedXML", Message: "The XML you provided was not well-formed or did not validate against our published schema: a list of 1 to 1,000 keys is needed.", status: http.StatusBadRequest}
	}
	for _, object := range input.Objects {
		if object.VersionID != "" {
			return notServedByS3("the deletion of a version")
		}
		if err := s.allowS3(by, "s3:DeleteObject", s3ARN+bucket+"/"+object.Key, s.context(by, s3ARN)); err != nil {
			return err
		}
	}
	r.Body = io.NopCloser(strings.NewReader(string(text)))
	return nil
}

// allowS3 checks a request without remembering the decision, because the number of objects has no limit. It records the grant's
// resource as used.
func (s *Server) allowS3(by *caller, action, resource string, context map[string]string) error {
	asks := policy.Request{Action: action, Resource: resource, Context: context}
	decision, grant := by.role.DecideBy(asks)
	if decision != policy.Allowed {
		return s.refuse(by, Use{Function: by.function, Action: action, Resource: resource}, decision)
	}
	s.use(Use{Function: by.function, Action: action, Resource: grant.Resource}, grant, asks)
	return nil
}
