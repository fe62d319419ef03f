package s3

import (
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/johannesboyne/gofakes3"
)

// Backend is the store as gofakes3 wants it. Errors are S3's.
func (s *Store) Backend() gofakes3.Backend { return backend{s} }

type backend struct{ store *Store }

func s3Error(err error, bucket, key string) error {
	switch {
	case errors.Is(err, ErrNoBucket):
		return gofakes3.BucketNotFound(bucket)
	case errors.Is(err, ErrNoObject):
		return gofakes3.KeyNotFound(key)
	}
	return err
}

// ListBuckets implements gofakes3.Backend.
func (b backend) ListBuckets() ([]gofakes3.BucketInfo, error) {
	b.store.mutex.RLock()
	defer b.store.mutex.RUnlock()
	all := []gofakes3.BucketInfo{}
	for _, name := range slices.Sorted(maps.Keys(b.store.buckets)) {
		all = append(all, gofakes3.BucketInfo{Name: name,
			CreationDate: gofakes3.NewContentTime(b.store.buckets[name].created)})
	}
	return all, nil
}

// ListBucket implements gofakes3.Backend. A page ends at a key or at a common prefix; the next one begins after
// everything below it.
func (b backend) ListBucket(name string, prefix *gofakes3.Prefix, page gofakes3.ListBucketPage) (*gofakes3.ObjectList,
	error) {
	b.store.mutex.RLock()
	defer b.store.mutex.RUnlock()
	from := b.store.buckets[name]
	if from == nil {
		return nil, gofakes3.BucketNotFound(name)
	}
	start, delimiter := "", ""
	if prefix != nil {
		start, delimiter = prefix.Prefix, prefix.Delimiter
	}
	list := gofakes3.NewObjectList()
	listed := int64(0)
	common := ""
	if after, below := strings.CutPrefix(page.Marker, start); delimiter != "" && below &&
		strings.HasSuffix(after, delimiter) {
		common = page.Marker
	}
	for _, key := range from.from(max(start, page.Marker)) {
		if !strings.HasPrefix(key, start) {
			break
		}
		if key == page.Marker || common != "" && strings.HasPrefix(key, common) {
			continue
		}
		if page.MaxKeys > 0 && listed == page.MaxKeys {
			list.IsTruncated = true
			return list, nil
		}
		listed++
		if delimiter != "" {
			if before, _, found := strings.Cut(key[len(start):], delimiter); found {
				common = start + before + delimiter
				list.AddPrefix(common)
				list.NextMarker = common
				continue
			}
		}
		object := from.objects[key]
		list.Add(&gofakes3.Content{
			Key: key, LastModified: gofakes3.NewContentTime(object.LastModified), ETag: `"` + object.ETag + `"`,
			Size:         object.Size,
			StorageClass: gofakes3.StorageStandard,
		})
		list.NextMarker = key
	}
	list.NextMarker = ""
	return list, nil
}

// CreateBucket implements gofakes3.Backend: buckets come from the template alone.
func (backend) CreateBucket(string) error { return gofakes3.ErrNotImplemented }

// DeleteBucket implements gofakes3.Backend: buckets come from the template alone.
func (backend) DeleteBucket(string) error { return gofakes3.ErrNotImplemented }

// ForceDeleteBucket implements gofakes3.Backend: buckets come from the template alone.
func (backend) ForceDeleteBucket(string) error { return gofakes3.ErrNotImplemented }

// BucketExists implements gofakes3.Backend.
func (b backend) BucketExists(name string) (bool, error) {
	_, err := b.store.Bucket(name)
	return err == nil, nil
}

// GetObject implements gofakes3.Backend.
func (b backend) GetObject(name, key string, asked *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	object, content, err := b.store.open(name, key)
	if err != nil {
		return nil, s3Error(err, name, key)
	}
	part, err := asked.Range(object.Size)
	if err != nil {
		content.Close()
		return nil, err
	}
	view, err := object.show(part != nil)
	if err != nil {
		content.Close()
		return nil, err
	}
	view.Range, view.Contents = part, content
	if part != nil {
		view.Contents = struct {
			io.Reader
			io.Closer
		}{io.NewSectionReader(content, part.Start, part.Length), content}
	}
	return view, nil
}

// HeadObject implements gofakes3.Backend.
func (b backend) HeadObject(name, key string) (*gofakes3.Object, error) {
	b.store.mutex.RLock()
	defer b.store.mutex.RUnlock()
	from := b.store.buckets[name]
	if from == nil {
		return nil, gofakes3.BucketNotFound(name)
	}
	if from.objects[key] == nil {
		return nil, gofakes3.KeyNotFound(key)
	}
	return from.objects[key].show(false)
}

// show makes S3's view of an object. A part of it has no checksum: that is of the whole.
func (o *stored) show(part bool) (*gofakes3.Object, error) {
	digest, err := hex.DecodeString(o.ETag)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"Last-Modified": o.LastModified.Format(http.TimeFormat)}
	for name, value := range o.Headers {
		if !part || !strings.HasPrefix(name, checksum) {
			headers[name] = value
		}
	}
	return &gofakes3.Object{Name: o.Key, Metadata: headers, Size: o.Size, Hash: digest,
		Contents: io.NopCloser(strings.NewReader(""))}, nil
}

const checksum = "X-Amz-Checksum-"

// kept are the headers of a request that S3 gives back with the object. The others, such as credentials, are dropped.
func kept(headers map[string]string) map[string]string {
	result := map[string]string{}
	for name, value := range headers {
		switch name {
		case "Content-Type", "Content-Encoding", "Content-Disposition":
			result[name] = value
		default:
			if strings.HasPrefix(name, "X-Amz-Meta-") || strings.HasPrefix(name, checksum) && name != checksum+"Mode" {
				result[name] = value
			}
		}
	}
	return result
}

// PutObject implements gofakes3.Backend.
func (b backend) PutObject(name, key string, headers map[string]string, input io.Reader, size int64,
	conditions *gofakes3.PutConditions) (gofakes3.PutObjectResult, error) {
	err := b.store.put(name, key, kept(headers), input, size, func(replaced *stored) error {
		if conditions == nil {
			return nil
		}
		var info gofakes3.ConditionalObjectInfo
		if replaced != nil {
			digest, err := hex.DecodeString(replaced.ETag)
			if err != nil {
				return err
			}
			info = gofakes3.ConditionalObjectInfo{Exists: true, Hash: digest}
		}
		return gofakes3.CheckPutConditions(conditions, &info)
	})
	return gofakes3.PutObjectResult{}, s3Error(err, name, key)
}

// CopyObject implements gofakes3.Backend.
func (b backend) CopyObject(fromBucket, fromKey, toBucket, toKey string,
	headers map[string]string) (gofakes3.CopyObjectResult, error) {
	return gofakes3.CopyObject(b, fromBucket, fromKey, toBucket, toKey, headers)
}

// DeleteObject implements gofakes3.Backend.
func (b backend) DeleteObject(name, key string) (gofakes3.ObjectDeleteResult, error) {
	return gofakes3.ObjectDeleteResult{}, s3Error(b.store.remove(name, key), name, key)
}

// DeleteMulti implements gofakes3.Backend.
func (b backend) DeleteMulti(name string, keys ...string) (gofakes3.MultiDeleteResult, error) {
	var result gofakes3.MultiDeleteResult
	for _, key := range keys {
		if err := b.store.remove(name, key); err != nil {
			failed := gofakes3.ErrorResultFromError(s3Error(err, name, key))
			failed.Key = key
			result.Error = append(result.Error, failed)
			continue
		}
		result.Deleted = append(result.Deleted, gofakes3.ObjectID{Key: key})
	}
	return result, nil
}
