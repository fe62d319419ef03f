package platforms_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// region is where the stacks of these tests are.
var region = check.Environment{Stack: "onesynth", Region: "eu-central-1", Account: "111122223333"}

func parsed(t *testing.T, source string) *check.Template {
	t.Helper()
	return must.Get(check.Parse([]byte(source)))(t)
}

// deployedBefore returns the template of prod as an earlier version of this module made it. To keep that of a release:
// make synth ENV=prod ARCH=arm64, and gzip -9n < cdk.out/onesynth-NAME-prod.template.json >
// testdata/deployed/NAME.template.json.gz.
func deployedBefore(t *testing.T, platform string) string {
	t.Helper()
	file := must.Get(os.Open("testdata/deployed/" + platform + ".template.json.gz"))(t)
	defer file.Close()
	unpacked := must.Get(gzip.NewReader(file))(t)
	template := must.Get(io.ReadAll(unpacked))(t)
	return string(template)
}

// meant are the findings against a platform's update that are meant, by id, each with the reason.
func meant(t *testing.T, platform string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/deployed/" + platform + ".meant.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	reasons := map[string]string{}
	if err == nil {
		err = json.Unmarshal(text, &reasons)
	}
	must.OK(t, err)
	return reasons
}

// The check before a deployment has nothing against any template beside itself.
func TestCheckItself(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		template := parsed(t, v.Template.Source)
		for _, f := range check.Compare(template, template, region) {
			t.Errorf("got %+v", f)
		}
	})
}

// A stack of an earlier version can be updated to this one: the check has nothing against it, but what
// CHANGELOG.md says under Changed or Removed.
func TestCheckEarlierVersion(t *testing.T) {
	t.Parallel()
	for name, environments := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, changed := map[string]bool{}, meant(t, name)
			before, now := parsed(t, deployedBefore(t, name)), parsed(t, environments["prod"].Template.Source)
			for _, f := range check.Compare(before, now, region) {
				found[f.ID] = true
				if changed[f.ID] == "" {
					t.Errorf("got %+v", f)
				}
			}
			for id := range changed {
				if !found[id] {
					t.Errorf("there is no finding %s: take it off the list", id)
				}
			}
		})
	}
}

// What the check has against a move from tokens to keys is what docs/guide/deploy.md explains, and no more.
func TestTokensToKeys(t *testing.T) {
	t.Parallel()
	document := must.Get(os.ReadFile("../../docs/guide/deploy.md"))(t)
	_, section, found := strings.Cut(string(document), "\n## From tokens to keys\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("docs/guide/deploy.md has no section From tokens to keys")
	}
	var explained []string
	for _, id := range regexp.MustCompile("`((?:issuer|open|drop):[A-Za-z0-9]+)`").FindAllStringSubmatch(section, -1) {
		explained = append(explained, id[1])
	}
	tokens, keys := variants["askahuman"][platformtest.Zero].Template.Source,
		variants["askahuman"]["prod"].Template.Source
	var got []string
	for _, f := range check.Compare(parsed(t, tokens), parsed(t, keys), region) {
		// The names of prod are no part of the move.
		if !strings.HasPrefix(f.ID, "rename:AskAHumanDatabase") {
			got = append(got, f.ID)
		}
	}
	slices.Sort(explained)
	slices.Sort(got)
	if diff := cmp.Diff(got, slices.Compact(explained)); diff != "" {
		t.Errorf("findings that docs/guide/deploy.md explains (-want +got):\n%s", diff)
	}
}
