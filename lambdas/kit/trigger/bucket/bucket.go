// Package bucket reads and writes the objects of buckets of Amazon S3.
package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

// ErrNoObject is the error of reading an object that does not exist. Amazon S3 says so only to a role that may list the
// bucket ("GetObject", Amazon S3 API reference). It refuses the roles of [schema.Function.Gets], which may not: let a
// table say which objects there are.
//
// [schema.Function.Gets]: https://pkg.go.dev/github.com/onesynth-cdk/onesynth/schema#Function
var ErrNoObject = errors.New("there is no such object")

// Object is an object in a listing.
type Object struct {
	Key string
	// Size is in bytes.
	Size int64
}

// Bucket is a bucket whose objects have one content type. It is safe for concurrent use.
type Bucket struct {
	client            *s3.Client
	name, contentType string
}

// objectTimeout is enough for the largest object that a function writes, at a tenth of
// the rate that Lambda has to S3.
const objectTimeout = 30 * time.Second

// New returns the bucket of that name, for objects of a content type such as "application/json".
func New(config aws.Config, name, contentType string) *Bucket {
	return &Bucket{client: s3.NewFromConfig(kit.WithAttemptTimeout(config, objectTimeout)), name: name,
		contentType: contentType}
}

// Put writes an object.
func (b *Bucket) Put(ctx context.Context, key string, body io.ReadSeeker) error {
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: body,
		ContentType: &b.contentType})
	if err != nil {
		return fmt.Errorf("S3 PutObject: %w", err)
	}
	return nil
}

// Read reads an object, and reports whether it exists, as far as [ErrNoObject] tells.
func (b *Bucket) Read(ctx context.Context, key string) (body []byte, found bool, err error) {
	opened, size, err := b.open(ctx, key, nil)
	if errors.Is(err, ErrNoObject) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer opened.Close()
	// Space for all of it at once: growing copies a large object, and leaves its former places.
	into := bytes.NewBuffer(make([]byte, 0, max(0, size)+bytes.MinRead))
	_, err = into.ReadFrom(opened)
	return into.Bytes(), true, unread(err)
}

// Open opens an object, which the caller closes, and reports whether it exists, as far as [ErrNoObject] tells.
func (b *Bucket) Open(ctx context.Context, key string) (body io.ReadCloser, found bool, err error) {
	body, _, err = b.open(ctx, key, nil)
	if errors.Is(err, ErrNoObject) {
		return nil, false, nil
	}
	return body, err == nil, err
}

// Get reads length bytes of an object from offset. The error is [ErrNoObject] if the object does not exist.
func (b *Bucket) Get(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	if length == 0 {
		return nil, nil
	}
	opened, _, err := b.open(ctx, key, aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)))
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	body := make([]byte, length)
	_, err = io.ReadFull(opened, body)
	return body, unread(err)
}

// open requests an object, or the part of it that bounds name, and returns how long the answer is, in bytes.
func (b *Bucket) open(ctx context.Context, key string, bounds *string) (body io.ReadCloser, size int64, err error) {
	output, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key, Range: bounds})
	if _, missing := errors.AsType[*types.NoSuchKey](err); missing {
		return nil, 0, fmt.Errorf("%w: %w", ErrNoObject, err)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("S3 GetObject: %w", err)
	}
	return output.Body, aws.ToInt64(output.ContentLength), nil
}

func unread(err error) error {
	if err != nil {
		return fmt.Errorf("read the answer of S3 GetObject: %w", err)
	}
	return nil
}

// List yields the objects below a prefix. It ends after an error.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(Object{}, fmt.Errorf("S3 ListObjectsV2: %w", err))
				return
			}
			for _, object := range page.Contents {
				if !yield(Object{Key: aws.ToString(object.Key), Size: aws.ToInt64(object.Size)}, nil) {
					return
				}
			}
		}
	}
}

// Delete deletes an object. It succeeds if the object does not exist.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key}); err != nil {
		return fmt.Errorf("S3 DeleteObject: %w", err)
	}
	return nil
}
