package lakequery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

const (
	// copies is the number of objects that are copied at a time.
	copies = 8
	// listings is the most listings of a table's objects. A second time is needed when a compaction replaced
	// some between their listing and their copy.
	listings = 20
)

// errVanished says that an object no longer exists.
var errVanished = errors.New("the object vanished")

// source is the console of a run, where the lakes are read from.
type source struct{ console string }

// object is one of a bucket.
type object struct {
	Key  string `json:"key"`
	Size int64  `json:"size"`
	ETag string `json:"etag"`
	// File has the content, where the run is on this machine. It is deleted with the object, and never changed.
	File string `json:"file"`
}

func (s source) lakes(ctx context.Context) ([]catalog.Lake, error) {
	var lakes []catalog.Lake
	err := s.decode(ctx, "/lakes", nil, &lakes)
	return lakes, err
}

func (s source) objects(ctx context.Context, bucket, prefix string) ([]object, error) {
	var objects []object
	err := s.decode(ctx, "/buckets/"+bucket, url.Values{"prefix": {prefix}}, &objects)
	return objects, err
}

func (s source) decode(ctx context.Context, path string, query url.Values, into any) error {
	body, err := s.get(ctx, path, query)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("answer of %s%s: %w", s.console, path, err)
	}
	return nil
}

// get returns errVanished for an object that does not exist.
func (s source) get(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	address, err := url.Parse(s.console)
	if err != nil {
		return nil, fmt.Errorf("console address: %w", err)
	}
	address.Path, address.RawQuery = path, query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("console address: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	var problem struct{ Error string }
	if err := json.NewDecoder(response.Body).Decode(&problem); err != nil || problem.Error == "" {
		return nil, fmt.Errorf("GET %s answered %s: is %s the console of a local run?", path, response.Status,
			s.console)
	}
	if response.StatusCode == http.StatusNotFound {
		return nil, fmt.Errorf("%w: %s", errVanished, problem.Error)
	}
	return nil, errors.New(problem.Error)
}

// copyTable links or copies a table's objects below the folder, at the places that they have below the table's
// location, and returns the files. They are those of one listing: a compaction writes the merged object before it
// deletes its inputs, so each listing has each row at least once.
func (s source) copyTable(ctx context.Context, table catalog.Table, folder string) ([]string, error) {
	bucket, prefix, err := cutLocation(table.Location)
	if err != nil {
		return nil, err
	}
	copied := map[object]bool{}
	for range listings {
		objects, err := s.objects(ctx, bucket, prefix)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", table.Location, err)
		}
		var files []string
		var vanished atomic.Bool
		group, groupCtx := errgroup.WithContext(ctx)
		group.SetLimit(copies)
		for _, object := range objects {
			place := strings.TrimPrefix(object.Key, prefix)
			if object.Size == 0 || !inPartition(table.PartitionKeys, place) {
				continue
			}
			if !filepath.IsLocal(filepath.FromSlash(place)) {
				return nil, fmt.Errorf("object %q: its key cannot be a file's name", object.Key)
			}
			file := filepath.Join(folder, filepath.FromSlash(place))
			files = append(files, file)
			if copied[object] {
				continue
			}
			copied[object] = true
			group.Go(func() error {
				err := s.copyObject(groupCtx, bucket, object, file)
				if errors.Is(err, errVanished) {
					vanished.Store(true)
					return nil
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		if !vanished.Load() {
			return files, nil
		}
	}
	return nil, fmt.Errorf("list %s: %w between listing and reading it, %d times over", table.Location, errVanished,
		listings)
}

// copyObject links the object's file, which costs nothing and outlives the object. Where that cannot be, as on another
// file system, it copies the content.
func (s source) copyObject(ctx context.Context, bucket string, object object, file string) error {
	key := object.Key
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("copy %q: %w", key, err)
	}
	// Of an earlier listing.
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("copy %q: %w", key, err)
	}
	if object.File != "" && os.Link(object.File, file) == nil {
		return nil
	}
	body, err := s.open(ctx, bucket, object)
	if err != nil {
		return fmt.Errorf("object %q: %w", key, err)
	}
	defer body.Close()
	to, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy %q: %w", key, err)
	}
	_, err = io.Copy(to, body)
	if err := errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("copy %q: %w", key, err)
	}
	return nil
}

// open reads the object's file, or else asks the console.
func (s source) open(ctx context.Context, bucket string, object object) (io.ReadCloser, error) {
	if object.File != "" {
		if file, err := os.Open(object.File); err == nil {
			return file, nil
		}
	}
	return s.get(ctx, "/buckets/"+bucket+"/objects/"+object.Key, nil)
}

func cutLocation(location string) (bucket, prefix string, err error) {
	rest, ok := strings.CutPrefix(location, "s3://")
	bucket, prefix, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return "", "", fmt.Errorf("location %q: want s3://BUCKET/PREFIX/", location)
	}
	return bucket, prefix, nil
}

// inPartition says whether Athena sees an object at that place below the table's location: in folders named after the
// partition keys, with a name that begins with neither dot nor underscore ("Troubleshoot in Athena").
func inPartition(keys []catalog.Column, place string) bool {
	segments := strings.Split(place, "/")
	if name := path.Base(place); strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
		len(segments) <= len(keys) {
		return false
	}
	for i, key := range keys {
		name, value, ok := strings.Cut(segments[i], "=")
		if !ok || name != key.Name {
			return false
		}
		if _, err := time.Parse(time.DateOnly, value); key.Type == "date" && err != nil {
			return false
		}
	}
	return true
}
