package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Bucket is an Amazon S3 bucket of a platform. It is private and encrypted, takes requests over TLS only, keeps former
// versions of objects for a week, and outlives the stack.
type Bucket struct {
	// Name is the construct id, such as "Exports".
	Name string
	// Description says what is in it, such as "exports of the lexicon".
	Description string
	// Variable is the environment variable in which functions find the bucket's name, such as
	// "EXPORTS_BUCKET".
	Variable string
	// RetentionDays is after how many days Amazon S3 deletes an object. Default: never.
	RetentionDays int
	// Retention has after how many days Amazon S3 deletes the objects of a prefix, such as "uploads/", in place of
	// RetentionDays if it is shorter. Default: none.
	Retention map[string]int
	// Pages lets pages in browsers use presigned URLs of the bucket (lambdas/kit/objects): pages of the platform's own
	// API, and of the origins that may call it. Default: the bucket has no CORS configuration.
	Pages bool
}

// Objects are the objects of a bucket whose keys begin with a prefix.
type Objects struct {
	// Bucket is the name of a bucket of the platform.
	Bucket string
	// Prefix is one or more folders, such as "lexicon/": small letters, digits and - in
	// each.
	Prefix string
}

// OnObjects invokes a function for each object that is created in a bucket. The function gets an event of Amazon
// EventBridge (events.EventBridgeEvent), whose detail names bucket and object ("Object Created", Amazon S3 user guide).
// The same event may come more than once. The function needs Gets to read the object.
type OnObjects struct {
	// ID is the construct id of the trigger. Default: the function's ID and "Objects".
	ID string
	// Objects are the objects whose creation invokes the function.
	Objects
	// Failures describe the queue of the events that the function failed to handle in three attempts. The queue is part
	// of the trigger.
	Failures Failures
}

var objectsPrefix = expression(`^([a-z0-9-]+/)+$`)

// WithDefaults returns the trigger of a function with its defaults filled in.
func (o OnObjects) WithDefaults(of Function) OnObjects {
	o.ID = cmp.Or(o.ID, of.ConstructID()+"Objects")
	o.Failures = o.Failures.withDefaults(o.ID, "new objects that the "+of.Name+" could not handle")
	return o
}

// Bucket returns the bucket of that name.
func (p Platform) Bucket(name string) (Bucket, bool) {
	return named(p.Buckets, name, func(x Bucket) string { return x.Name })
}

// BucketsOf returns the buckets that the function writes to, reads, or is invoked by, each once.
func (p Platform) BucketsOf(f Function) []Bucket {
	used := slices.Concat(f.Puts, f.Gets)
	if trigger, ok := f.Trigger.(OnObjects); ok {
		used = append(used, trigger.Objects)
	}
	return slices.DeleteFunc(slices.Clone(p.Buckets), func(b Bucket) bool {
		return !slices.ContainsFunc(used, func(o Objects) bool { return o.Bucket == b.Name })
	})
}

func (o OnObjects) validate(f *findings, path string, p Platform, fn Function) {
	path += ".Trigger"
	o.Objects.validate(f, path, p)
	for i, put := range fn.Puts {
		if put.Bucket == o.Bucket && (strings.HasPrefix(put.Prefix, o.Prefix) ||
			strings.HasPrefix(o.Prefix, put.Prefix)) {
			f.add(fmt.Sprintf("%s.Puts[%d]", strings.TrimSuffix(path, ".Trigger"), i), quoted(put.Prefix),
				"put below another prefix than the trigger's, %q: the function would invoke itself without end",
				o.Prefix)
		}
	}
}

func (o Objects) validate(f *findings, path string, p Platform) {
	if _, ok := p.Bucket(o.Bucket); !ok {
		f.add(path+".Bucket", quoted(o.Bucket), "name a declared bucket")
	}
	if !matches(objectsPrefix, o.Prefix) {
		f.add(path+".Prefix", quoted(o.Prefix),
			`write folders, such as "lexicon/": small letters, digits and -, and / after each`)
	}
}

// validateObjects checks the objects that a function puts and reads.
func (p Platform) validateObjects(f *findings, path string, fn Function) {
	check := func(part string, all []Objects) {
		for i, o := range all {
			at := fmt.Sprintf("%s.%s[%d]", path, part, i)
			o.validate(f, at, p)
			if slices.Index(all, o) < i {
				f.add(at, quoted(o.Prefix), "name each prefix of a bucket once")
			}
		}
	}
	check("Puts", fn.Puts)
	check("Gets", fn.Gets)
}

// validateBuckets checks the buckets, and that a function uses each.
func (p Platform) validateBuckets(f *findings) {
	unique(f, "Buckets", p.Buckets, func(b Bucket) string { return b.Name })
	for _, b := range p.Buckets {
		path := "Buckets[" + b.Name + "]"
		if b.RetentionDays < 0 {
			f.add(path+".RetentionDays", fmt.Sprint(b.RetentionDays),
				"write how many days objects stay, or 0 for always")
		}
		for prefix, days := range b.Retention {
			if !matches(objectsPrefix, prefix) || days < 1 {
				f.add(path+".Retention["+prefix+"]", fmt.Sprint(days),
					`write folders, such as "uploads/", and at least 1 day`)
			}
		}
		if b.Pages && len(p.Routes) == 0 {
			f.add(path+".Pages", "a bucket for pages without an API",
				"leave it out: no function signs a URL for a page, or declare the route that does")
		}
		used := func(fn Function) bool {
			return slices.ContainsFunc(p.BucketsOf(fn), func(other Bucket) bool { return other.Name == b.Name })
		}
		if !slices.ContainsFunc(p.Functions, used) {
			f.add(path, "a bucket that no function uses",
				"name it in the Puts, Gets or OnObjects of a function, or leave it out")
		}
	}
}
