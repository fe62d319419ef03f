// Package s3 keeps the objects of an assembly's Amazon S3 buckets in a folder.
//
// It is the storage behind gofakes3, which speaks S3's protocol: only the assembly's buckets exist, an object is
// replaced as a whole or not at all, a reader of an object keeps what it began to read, and listings are in S3's order
// with its pages. Versions, lifecycle rules and bucket policies have no effect; CORS rules do
// ([Store.Pages]). A bucket with NotificationConfiguration.EventBridgeConfiguration tells of new objects; other
// notifications are refused.
package s3

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// Errors, to be matched with errors.Is.
var (
	// ErrNoBucket says that the assembly has no such bucket.
	ErrNoBucket = errors.New("no such bucket in the assembly")
	// ErrNoObject says that the bucket has no such object.
	ErrNoObject = errors.New("no such object")
)

// Bucket is a bucket and its content.
type Bucket struct {
	Name    string `json:"name"`
	ARN     string `json:"arn"`
	Objects int    `json:"objects"`
	// Bytes are those of all objects.
	Bytes int64 `json:"bytes"`
}

// Object is an object without its content.
type Object struct {
	Key  string `json:"key"`
	Size int64  `json:"size"`
	// ETag is the MD5 of the content in hexadecimal digits, as S3 has it for objects that were put in one piece.
	ETag         string    `json:"etag"`
	LastModified time.Time `json:"last_modified"`
	// File has the content of an object that Objects listed: programs of this machine may read it until the object is
	// replaced or deleted, and longer by a hard link, as no file is changed.
	File string `json:"file,omitempty"`
}

// Store is all buckets. Make one with New. It is safe for concurrent use.
type Store struct {
	dir string

	mutex   sync.RWMutex
	buckets map[string]*bucket
	// created is how many objects have been put, and onCreated hears of each.
	created   uint64
	onCreated func(Created)
}

// Created is a new object of a bucket that sends events.
type Created struct {
	Bucket, ARN     string
	Account, Region string
	Object          Object
	// Sequence orders the events of a key.
	Sequence uint64
}

// OnCreated makes the store call the function with each new object of the buckets that send events. Call it before any
// object is put.
func (s *Store) OnCreated(hear func(Created)) { s.onCreated = hear }

type bucket struct {
	name, arn       string
	account, region string
	// events says that the bucket sends events to Amazon EventBridge, and cors which pages may use it.
	events  bool
	cors    []corsRule
	created time.Time
	dir     string
	// keys are those of objects, in S3's order: of their UTF-8 bytes.
	keys    []string
	objects map[string]*stored
}

// stored is the record of an object in its file, after the content.
type stored struct {
	Object
	// Headers go back with the content.
	Headers map[string]string `json:"headers"`
	// Content is the name of the file that has it.
	Content string `json:"content"`
}

const (
	// partial begins the names of records that are being written.
	partial = "put-"
	// contents begins the names of files with contents. They are written before the record that names them.
	contents = "content-"
)

// New opens the assembly's buckets in the folder, which is made if it is missing, with the objects that an earlier run
// left there. Errors name a bucket that cannot be served, or a file that is no object.
func New(dir string, source *assembly.Assembly) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	store := &Store{dir: dir}
	apply, err := store.Prepare(source)
	if err != nil {
		return nil, err
	}
	apply()
	return store, nil
}

// Prepare opens the buckets of another assembly. What it returns makes the store have these, and no others: buckets of
// the same names keep their objects. Errors as of New.
func (s *Store) Prepare(source *assembly.Assembly) (apply func(), err error) {
	s.mutex.RLock()
	former := s.buckets
	s.mutex.RUnlock()
	next, events, cors := map[string]*bucket{}, map[string]bool{}, map[string][]corsRule{}
	for _, resource := range source.Resources("AWS::S3::Bucket") {
		var declared struct {
			NotificationConfiguration struct{ EventBridgeConfiguration map[string]any }
			CorsConfiguration         struct{ CorsRules []corsRule }
		}
		if err := resource.Decode(&declared); err != nil {
			return nil, err
		}
		bridge := declared.NotificationConfiguration.EventBridgeConfiguration
		events[resource.Name] = bridge != nil && bridge["EventBridgeEnabled"] != false
		cors[resource.Name] = declared.CorsConfiguration.CorsRules
		if next[resource.Name] = former[resource.Name]; next[resource.Name] != nil {
			continue
		}
		opened, err := open(filepath.Join(s.dir, resource.Name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", resource, err)
		}
		opened.name, opened.arn, opened.account, opened.region = resource.Name, resource.ARN, resource.Stack.Account,
			resource.Stack.Region
		next[resource.Name] = opened
	}
	return func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.buckets = next
		for name, one := range next {
			one.events, one.cors = events[name], cors[name]
		}
	}, nil
}

func open(dir string) (*bucket, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	opened := &bucket{dir: dir, created: time.Now(), objects: map[string]*stored{}}
	found := map[string]bool{}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), partial):
			// The run that wrote it died.
			if err := os.Remove(path); err != nil {
				return nil, err
			}
			continue
		case strings.HasPrefix(entry.Name(), contents):
			found[entry.Name()] = true
			continue
		}
		object, err := readRecord(path)
		if err != nil {
			return nil, fmt.Errorf("%s is not an object of an earlier run (%w): remove it and start again", path, err)
		}
		opened.objects[object.Key] = object
	}
	for _, object := range opened.objects {
		delete(found, object.Content)
	}
	for name := range found {
		// The run died between writing or deleting it and its record.
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	opened.keys = slices.Sorted(maps.Keys(opened.objects))
	return opened, nil
}

// An object is a file of its content, and a record that names it, as JSON. Replacing the record replaces the object at
// once.
func readRecord(path string) (*stored, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var object stored
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	info, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.Base(object.Content)))
	if err != nil {
		return nil, err
	}
	if info.Size() != object.Size {
		return nil, errors.New("its size is another")
	}
	return &object, nil
}

// file is where the record of the object with the key is. Keys may be longer than file names, and a key may be the
// folder of another.
func (b *bucket) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(b.dir, hex.EncodeToString(sum[:]))
}

// content is where the object's content is.
func (b *bucket) content(object *stored) string { return filepath.Join(b.dir, object.Content) }

// Buckets returns every bucket, sorted by name.
func (s *Store) Buckets() []Bucket {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	all := make([]Bucket, 0, len(s.buckets))
	for _, name := range slices.Sorted(maps.Keys(s.buckets)) {
		all = append(all, s.buckets[name].describe())
	}
	return all
}

func (b *bucket) describe() Bucket {
	described := Bucket{Name: b.name, ARN: b.arn, Objects: len(b.keys)}
	for _, object := range b.objects {
		described.Bytes += object.Size
	}
	return described
}

// Bucket returns the bucket with the name. Errors: ErrNoBucket.
func (s *Store) Bucket(name string) (Bucket, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	found := s.buckets[name]
	if found == nil {
		return Bucket{}, fmt.Errorf("%w: got %q", ErrNoBucket, name)
	}
	return found.describe(), nil
}

// Objects returns the objects whose keys begin with the prefix, in the order of their keys. Errors: ErrNoBucket.
func (s *Store) Objects(name, prefix string) ([]Object, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	found := s.buckets[name]
	if found == nil {
		return nil, fmt.Errorf("%w: got %q", ErrNoBucket, name)
	}
	objects := []Object{}
	for _, key := range found.from(prefix) {
		if !strings.HasPrefix(key, prefix) {
			break
		}
		object := found.objects[key].Object
		object.File = found.content(found.objects[key])
		objects = append(objects, object)
	}
	return objects, nil
}

// from returns the keys that are not before the given one.
func (b *bucket) from(key string) []string {
	at, _ := slices.BinarySearch(b.keys, key)
	return b.keys[at:]
}

// Open returns an object with its content, which the caller closes. It stays readable when the object is replaced or
// deleted. Errors: ErrNoBucket, ErrNoObject.
func (s *Store) Open(name, key string) (Object, io.ReadCloser, error) {
	object, content, err := s.open(name, key)
	if err != nil {
		return Object{}, nil, err
	}
	return object.Object, content, nil
}

func (s *Store) open(name, key string) (*stored, *os.File, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	found := s.buckets[name]
	if found == nil {
		return nil, nil, fmt.Errorf("%w: got %q", ErrNoBucket, name)
	}
	object := found.objects[key]
	if object == nil {
		return nil, nil, fmt.Errorf("%w: got key %q in bucket %s", ErrNoObject, key, name)
	}
	file, err := os.Open(found.content(object))
	if err != nil {
		return nil, nil, fmt.Errorf("object %s of bucket %s: %w", key, name, err)
	}
	return object, file, nil
}

// Exists tells whether the object exists. A missing bucket has none.
func (s *Store) Exists(name, key string) bool {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	found := s.buckets[name]
	return found != nil && found.objects[key] != nil
}

// put stores an object once its content is complete, if check, which gets the one that it replaces or nil, allows it.
func (s *Store) put(name, key string, headers map[string]string, input io.Reader, size int64,
	check func(*stored) error) error {
	s.mutex.RLock()
	into := s.buckets[name]
	s.mutex.RUnlock()
	if into == nil {
		return fmt.Errorf("%w: got %q", ErrNoBucket, name)
	}
	file, err := os.CreateTemp(into.dir, contents)
	if err != nil {
		return fmt.Errorf("object %s of bucket %s: %w", key, name, err)
	}
	written := false
	defer func() {
		if !written {
			os.Remove(file.Name())
		}
	}()
	defer file.Close()
	digest := md5.New()
	got, err := io.Copy(io.MultiWriter(file, digest), input)
	if err != nil {
		return err
	}
	if got != size {
		return gofakes3.ErrIncompleteBody
	}
	object := &stored{Headers: headers, Content: filepath.Base(file.Name()), Object: Object{
		Key: key, Size: size, ETag: hex.EncodeToString(digest.Sum(nil)),
		LastModified: time.Now().UTC().Truncate(time.Second),
	}}
	if err := file.Close(); err != nil {
		return fmt.Errorf("object %s of bucket %s: %w", key, name, err)
	}
	sequence, err := s.replace(into, object, check)
	written = err == nil
	s.mutex.RLock()
	tells := into.events
	s.mutex.RUnlock()
	if err == nil && tells && s.onCreated != nil {
		s.onCreated(Created{Bucket: into.name, ARN: into.arn, Account: into.account, Region: into.region,
			Object: object.Object, Sequence: sequence})
	}
	return err
}

// replace makes the object that of its key, if check allows it, and returns how many objects have been put.
func (s *Store) replace(into *bucket, object *stored, check func(*stored) error) (sequence uint64, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key := object.Key
	replaced := into.objects[key]
	if err := check(replaced); err != nil {
		return 0, err
	}
	if err := into.record(object); err != nil {
		return 0, fmt.Errorf("object %s of bucket %s: %w", key, into.name, err)
	}
	if replaced != nil {
		// What cannot be removed now is removed by the next run.
		os.Remove(into.content(replaced))
	}
	if into.objects[key] == nil {
		at, _ := slices.BinarySearch(into.keys, key)
		into.keys = slices.Insert(into.keys, at, key)
	}
	into.objects[key] = object
	s.created++
	return s.created, nil
}

// record writes the object's record in place of that of its key.
func (b *bucket) record(object *stored) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(b.dir, partial)
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // after the renaming there is none
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), b.file(object.Key))
}

// remove deletes an object. Deleting a missing one succeeds, as in S3.
func (s *Store) remove(name, key string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	from := s.buckets[name]
	if from == nil {
		return fmt.Errorf("%w: got %q", ErrNoBucket, name)
	}
	object := from.objects[key]
	if object == nil {
		return nil
	}
	if err := os.Remove(from.file(key)); err != nil {
		return fmt.Errorf("object %s of bucket %s: %w", key, name, err)
	}
	// What cannot be removed now is removed by the next run.
	os.Remove(from.content(object))
	delete(from.objects, key)
	at, _ := slices.BinarySearch(from.keys, key)
	from.keys = slices.Delete(from.keys, at, at+1)
	return nil
}
