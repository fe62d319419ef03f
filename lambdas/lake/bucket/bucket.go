// Package bucket keeps a lake's objects in Amazon S3.
package bucket

import (
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
	"github.com/onesynth-cdk/onesynth/lambdas/lake"
)

// Bucket is a [lake.Bucket] in Amazon S3.
type Bucket struct {
	client *s3.Client
	name   string
}

var _ lake.Bucket = (*Bucket)(nil)

// attemptTimeout is enough for the largest object that a function writes, at a tenth of
// the rate that Lambda has to S3.
const attemptTimeout = 30 * time.Second

// New returns the bucket of that name.
func New(config aws.Config, name string) *Bucket {
	return &Bucket{client: s3.NewFromConfig(kit.WithAttemptTimeout(config, attemptTimeout)), name: name}
}

// Put writes an object.
func (b *Bucket) Put(ctx context.Context, key string, body io.ReadSeeker) error {
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: body, ContentType: aws.String("application/vnd.apache.parquet"),
	})
	if err != nil {
		return fmt.Errorf("S3 PutObject: %w", err)
	}
	return nil
}

// Get reads a part of an object. The error is [lake.ErrNoObject] when the object
// does not exist.
func (b *Bucket) Get(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	if length == 0 {
		return nil, nil
	}
	output, err := b.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &b.name, Key: &key, Range: aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)),
	})
	if err != nil {
		if _, ok := errors.AsType[*types.NoSuchKey](err); ok {
			return nil, fmt.Errorf("%w: %w", lake.ErrNoObject, err)
		}
		return nil, fmt.Errorf("S3 GetObject: %w", err)
	}
	defer output.Body.Close()
	body := make([]byte, length)
	if _, err := io.ReadFull(output.Body, body); err != nil {
		return nil, fmt.Errorf("read the answer of S3 GetObject: %w", err)
	}
	return body, nil
}

// List gives the objects below a prefix.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[lake.Object, error] {
	return func(yield func(lake.Object, error) bool) {
		pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(lake.Object{}, fmt.Errorf("S3 ListObjectsV2: %w", err))
				return
			}
			for _, object := range page.Contents {
				if !yield(lake.Object{Key: aws.ToString(object.Key), Size: aws.ToInt64(object.Size)}, nil) {
					return
				}
			}
		}
	}
}

// Delete deletes an object. One that does not exist is no error.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key}); err != nil {
		return fmt.Errorf("S3 DeleteObject: %w", err)
	}
	return nil
}
