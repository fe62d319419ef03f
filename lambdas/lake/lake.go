// Package lake turns the stream of a table into Parquet files, and merges these. It
// knows no platform: a [schema.LakeDefinition] says which items become rows.
//
// The [Writer] writes the rows of each batch of the stream as one object for each
// entity and day:
//
//	events/entity=<entity>/event_date=<YYYY-MM-DD>/<object>.parquet
//
// An object is named after the changes that the batch has, so that a batch that is delivered again
// rewrites the same objects with the same bytes. If the second delivery divides the records into
// other batches, a change may be in two objects. The [Compactor] merges small objects and keeps
// each change once, by its event id. Until it has run, the lake's views remove duplicates.
package lake

import (
	"context"
	"io"
	"iter"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/bucket"
	"github.com/onesynth-cdk/onesynth/schema"
)

// EventsPrefix begins the keys of all objects with changes.
const EventsPrefix = "events/"

// ContentType is the content type of the objects.
const ContentType = "application/vnd.apache.parquet"

// ErrNoObject is the error of reading an object that does not exist, or no longer exists.
var ErrNoObject = bucket.ErrNoObject

// Open returns the definition of a function's lake, and the lake's bucket.
func Open(environment kit.Environment) (schema.LakeDefinition, *bucket.Bucket, error) {
	values, err := environment.Require("LAKE_DEFINITION", "LAKE_BUCKET")
	if err != nil {
		return schema.LakeDefinition{}, nil, err
	}
	definition, err := schema.ParseLakeDefinition(values[0])
	return definition, bucket.New(environment.AWS, values[1], ContentType), err
}

// Object is an object in the listing of a bucket.
type Object = bucket.Object

// Bucket has the methods of a bucket that the [Compactor] needs. Their effects are
// immediate: a listing has the objects that were put before it. A [bucket.Bucket] is one.
type Bucket interface {
	// Put writes an object, replacing the one with this key if there is one. No reader sees a part
	// of it.
	Put(ctx context.Context, key string, body io.ReadSeeker) error
	// List gives the objects whose keys begin with prefix, in the order of their
	// keys as bytes. After an error it gives nothing more.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Get reads length bytes of an object from offset. The error is [ErrNoObject]
	// when it does not exist.
	Get(ctx context.Context, key string, offset, length int64) ([]byte, error)
	// Delete deletes an object. One that does not exist is no error.
	Delete(ctx context.Context, key string) error
}
