// Package objects makes presigned URLs, with which callers upload and download objects of a bucket themselves: an
// answer of AWS Lambda has 6 MB at most, and an HTTP API takes 10 MB.
//
// A URL has the rights of the function's role, for one object ("Download and upload objects with presigned URLs",
// Amazon S3 user guide). The function needs Puts or Gets of the object's prefix. Whoever has the URL can use it, any
// number of times, until it expires or the credentials of the function do, which is hours later.
package objects

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Limits of presigned URLs. Amazon S3 takes an object of up to 5 GB in one request ("Uploading objects").
const (
	// DefaultExpiry is how long a URL is valid unless Limits say otherwise.
	DefaultExpiry = 5 * time.Minute
	// LongestExpiry is how long a URL can be valid. The credentials of a function may end before longer times.
	LongestExpiry = time.Hour
	largest       = 5 << 30
)

// Limits say what callers may upload.
type Limits struct {
	// Types are the media types, such as "image/png". Required.
	Types []string
	// Bytes is the size of the largest object: 1 to 5 GB. Required.
	Bytes int64
	// Expiry is how long a URL is valid: 1 second to [LongestExpiry]. Default: [DefaultExpiry].
	Expiry time.Duration
}

// Signed is a request that a caller may send, as JSON, too.
type Signed struct {
	// Method and URL are those of the request.
	Method string `json:"method"`
	URL    string `json:"url"`
	// Headers are those that the request must have, by name. A browser sets Content-Length itself.
	Headers map[string]string `json:"headers,omitempty"`
	// Expires is when the URL ends.
	Expires time.Time `json:"expires" format:"date-time"`
}

// Bucket makes URLs for the objects of a bucket. It is safe for concurrent use.
type Bucket struct {
	client *s3.PresignClient
	name   string
}

// Open returns a bucket of the function's platform. Its name is in the variable that the construct sets.
func Open(environment kit.Environment, of schema.Bucket) (*Bucket, error) {
	values, err := environment.Require(of.Variable)
	if err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(environment.AWS, func(o *s3.Options) {
		// The SDK would sign the checksum of an empty body.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	})
	return &Bucket{client: s3.NewPresignClient(client), name: values[0]}, nil
}

// Upload returns the request with which a caller uploads an object of that media type and size. Amazon S3 refuses
// another type or size, since the signature has both. It replaces the object of that key. Upload returns a
// [*validate.Error] of content_type or size if the caller's wish is beyond the limits.
func (b *Bucket) Upload(ctx context.Context, key, contentType string, size int64, limits Limits) (Signed, error) {
	if len(limits.Types) == 0 || limits.Bytes < 1 || limits.Bytes > largest {
		return Signed{}, fmt.Errorf("objects: got %d types and %d bytes: name the types, and a size of 1 to %d bytes",
			len(limits.Types), limits.Bytes, int64(largest))
	}
	expiry, err := expiryOf(limits.Expiry)
	if err != nil {
		return Signed{}, err
	}
	var problems validate.Problems
	validate.OneOf(&problems, "content_type", contentType, limits.Types)
	problems.Number("size", int(size), 1, int(limits.Bytes))
	if err := problems.Err(); err != nil {
		return Signed{}, err
	}
	expires := time.Now().Add(expiry)
	signed, err := b.client.PresignPutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key,
		ContentType: &contentType, ContentLength: &size}, s3.WithPresignExpires(expiry))
	if err != nil {
		return Signed{}, fmt.Errorf("sign the upload of %s: %w", key, err)
	}
	return Signed{Method: http.MethodPut, URL: signed.URL, Headers: map[string]string{"Content-Type": contentType},
		Expires: expires}, nil
}

// Download returns the request with which a caller downloads an object. The caller's browser saves it under the file
// name, and does not show it as a page. An expiry of 0 is [DefaultExpiry].
func (b *Bucket) Download(ctx context.Context, key, fileName string, expiry time.Duration) (Signed, error) {
	expiry, err := expiryOf(expiry)
	if err != nil {
		return Signed{}, err
	}
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": fileName})
	expires := time.Now().Add(expiry)
	signed, err := b.client.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key,
		ResponseContentDisposition: &disposition}, s3.WithPresignExpires(expiry))
	if err != nil {
		return Signed{}, fmt.Errorf("sign the download of %s: %w", key, err)
	}
	return Signed{Method: http.MethodGet, URL: signed.URL, Expires: expires}, nil
}

func expiryOf(given time.Duration) (time.Duration, error) {
	if given == 0 {
		return DefaultExpiry, nil
	}
	if given < time.Second || given > LongestExpiry {
		return 0, fmt.Errorf("objects: a URL is valid for 1s to %s: got %s", LongestExpiry, given)
	}
	return given, nil
}
