package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// exporting is a platform whose function is invoked by uploads, reads them, and puts exports.
func exporting() schema.Platform {
	p := minimal()
	p.Buckets = []schema.Bucket{{Name: "Exports", Variable: "EXPORTS_BUCKET"}}
	uploads := schema.Objects{Bucket: "Exports", Prefix: "uploads/"}
	p.Functions = append(p.Functions, schema.Function{
		Name: "exporter", Trigger: schema.OnObjects{Objects: uploads},
		Gets: []schema.Objects{uploads}, Puts: []schema.Objects{{Bucket: "Exports", Prefix: "lexicon/en-us/"}},
	})
	return p
}

// Wrong buckets and objects are refused, with where they are and what to write instead.
func TestValidateBuckets(t *testing.T) {
	t.Parallel()
	must.OK(t, exporting().Validate())
	exporter := func(change func(*schema.Function)) func(*schema.Platform) {
		return func(p *schema.Platform) { change(&p.Functions[len(p.Functions)-1]) }
	}
	put := func(objects ...schema.Objects) func(*schema.Platform) {
		return exporter(func(f *schema.Function) { f.Puts = objects })
	}
	bucket := func(change func(*schema.Bucket)) func(*schema.Platform) {
		return func(p *schema.Platform) { change(&p.Buckets[0]) }
	}
	for name, test := range map[string]struct {
		spoil           func(*schema.Platform)
		path, got, text string
	}{
		"ErrName": {func(p *schema.Platform) {
			p.Buckets = append(p.Buckets, schema.Bucket{Name: "more", Variable: "M"})
		}, "Buckets[more].Name", `"more"`, "capital"},
		"ErrTwice": {func(p *schema.Platform) {
			p.Buckets = append(p.Buckets, p.Buckets[0])
		}, "Buckets[1]", `"Exports"`, "once"},
		"ErrVariable": {bucket(func(b *schema.Bucket) { b.Variable = "exports" }), "Buckets[Exports].Variable",
			`"exports"`, "EXPORTS_BUCKET"},
		"ErrVariableOfASecret": {func(p *schema.Platform) {
			p.Secrets = []schema.Secret{{Name: "Key", Variable: "EXPORTS_BUCKET"}}
		}, "Buckets[Exports].Variable", `"EXPORTS_BUCKET"`, "Secrets[Key].Variable has this one"},
		"ErrRetention": {bucket(func(b *schema.Bucket) { b.RetentionDays = -1 }), "Buckets[Exports].RetentionDays",
			"-1", "always"},
		"ErrRetentionOfAll": {bucket(func(b *schema.Bucket) { b.Retention = map[string]int{"": 1} }),
			"Buckets[Exports].Retention[]", "1", "folders"},
		"ErrRetentionOfPrefix": {bucket(func(b *schema.Bucket) { b.Retention = map[string]int{"uploads/": 0} }),
			"Buckets[Exports].Retention[uploads/]", "0", "at least 1 day"},
		"ErrPages": {func(p *schema.Platform) { p.Buckets[0].Pages, p.Routes = true, nil }, "Buckets[Exports].Pages",
			"without an API", "declare the route"},
		"ErrUnused": {func(p *schema.Platform) {
			p.Functions = p.Functions[:len(p.Functions)-1]
		}, "Buckets[Exports]", "no function uses", "Puts, Gets or OnObjects"},
		"ErrTakenID": {exporter(func(f *schema.Function) { f.ID = "Exports" }), "Functions[exporter].ID", `"Exports"`,
			"Buckets[Exports]"},
		"ErrTriggerID": {exporter(func(f *schema.Function) {
			trigger := f.Trigger.(schema.OnObjects)
			trigger.ID = "Exports"
			f.Trigger = trigger
		}), "Functions[exporter].Trigger.ID", `"Exports"`, "another construct id"},
		"ErrUnknownBucket": {put(schema.Objects{Bucket: "Nope", Prefix: "a/"}), "Functions[exporter].Puts[0].Bucket",
			`"Nope"`, "declared bucket"},
		"ErrWholeBucket": {put(schema.Objects{Bucket: "Exports"}), "Functions[exporter].Puts[0].Prefix", "nothing",
			"folders"},
		"ErrNoFolder": {put(schema.Objects{Bucket: "Exports", Prefix: "lexicon"}),
			"Functions[exporter].Puts[0].Prefix", `"lexicon"`, "/ after each"},
		"ErrWildcard": {put(schema.Objects{Bucket: "Exports", Prefix: "*/"}), "Functions[exporter].Puts[0].Prefix",
			`"*/"`, "small letters"},
		"ErrPutTwice": {put(schema.Objects{Bucket: "Exports", Prefix: "a/"},
			schema.Objects{Bucket: "Exports", Prefix: "a/"}), "Functions[exporter].Puts[1]", `"a/"`, "once"},
		"ErrGet": {exporter(func(f *schema.Function) { f.Gets[0].Prefix = "/" }),
			"Functions[exporter].Gets[0].Prefix", `"/"`, "folders"},
		"ErrTrigger": {exporter(func(f *schema.Function) { f.Trigger = schema.OnObjects{} }),
			"Functions[exporter].Trigger.Bucket", "nothing", "declared bucket"},
		"ErrWithoutEnd": {put(schema.Objects{Bucket: "Exports", Prefix: "uploads/done/"}),
			"Functions[exporter].Puts[0]", `"uploads/done/"`, "invoke itself without end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := exporting()
			test.spoil(&p)
			found, _ := errors.AsType[finding.List](p.Validate())
			wants(t, found, test.path, test.got, test.text)
		})
	}
}

// wants fails the test unless a finding has the path and the value, and contains the text.
func wants(t *testing.T, found finding.List, path, got, text string) {
	t.Helper()
	for _, f := range found {
		if f.Path == path && strings.Contains(f.Got, got) && strings.Contains(f.Allowed+": "+f.Remedy, text) {
			return
		}
	}
	t.Errorf("no finding at %s that got %s and says %q:\n%v", path, got, text, found)
}

// A function finds the buckets that it uses, each once.
func TestBucketsOf(t *testing.T) {
	t.Parallel()
	p := exporting()
	if diff := cmp.Diff(p.Buckets, p.BucketsOf(p.Functions[len(p.Functions)-1])); diff != "" {
		t.Errorf("buckets (-want +got):\n%s", diff)
	}
	if got := p.BucketsOf(p.Functions[0]); len(got) != 0 {
		t.Errorf("got %v of a function that names none", got)
	}
}
