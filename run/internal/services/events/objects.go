package events

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/run/internal/services/s3"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// sourceOfObjects is the source of the events of buckets.
const sourceOfObjects = "aws.s3"

// detailOfObject is that of "Object Created" ("EventBridge event message structure", Amazon S3 user guide), without
// reason and requester.
type detailOfObject struct {
	Version string `json:"version"`
	Bucket  struct {
		Name string `json:"name"`
	} `json:"bucket"`
	Object struct {
		Key       string `json:"key"`
		Size      int64  `json:"size"`
		ETag      string `json:"etag"`
		Sequencer string `json:"sequencer"`
	} `json:"object"`
	RequestID string `json:"request-id"`
}

// Created puts the event of a new object on the default bus of its bucket's account and region.
func (s *Service) Created(created s3.Created) {
	detail := detailOfObject{Version: "0", RequestID: uuid.NewString()}
	detail.Bucket.Name = created.Bucket
	detail.Object.Key, detail.Object.Size, detail.Object.ETag = created.Object.Key, created.Object.Size,
		created.Object.ETag
	detail.Object.Sequencer = fmt.Sprintf("%016X", created.Sequence)
	s.publish(bus{created.Account, created.Region, defaultBus}, event{
		Version: "0", ID: uuid.NewString(), DetailType: "Object Created", Source: sourceOfObjects,
		Account: created.Account, Region: created.Region, Time: created.Object.LastModified.UTC().Truncate(time.Second),
		Resources: []string{created.ARN}, Detail: encode(detail),
	}, publisher{}, trace.Origin{Kind: trace.Objects, Path: created.Bucket + "/" + created.Object.Key})
}
