package finding_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

func TestFindings(t *testing.T) {
	t.Parallel()
	var f finding.List
	if err := f.Err(); err != nil {
		t.Fatalf("no findings: got %v, want nil", err)
	}
	f.Add("Props.Name", "a b", "letters", "respell it")
	one := f.Err()
	f.Add("Props.Size", -1, "1 or more", "leave it 0")
	f.Add("Props.Every", 90*time.Second, "whole minutes", "round it")
	f.Append(finding.Finding{Path: "Props.Key", Got: "nothing", Allowed: "a key", Remedy: "name one"})
	var repeated finding.List
	for i := range 5 {
		repeated.Once("Props.Names", []string{"a", "", "b", "", "a"}, i, "name")
	}
	if diff := cmp.Diff("1 finding:\n  Props.Names[4]: got \"a\", allowed is each name once: leave one of them out",
		repeated.Error()); diff != "" {
		t.Errorf("a repeated name (-want +got):\n%s", diff)
	}
	several := fmt.Errorf("construct X: %w", f.Err())

	if diff := cmp.Diff("1 finding:\n  Props.Name: got \"a b\", allowed is letters: respell it",
		one.Error()); diff != "" {
		t.Errorf("one finding (-want +got):\n%s", diff)
	}
	want := `construct X: 4 findings:
  Props.Name: got "a b", allowed is letters: respell it
  Props.Size: got -1, allowed is 1 or more: leave it 0
  Props.Every: got "1m30s", allowed is whole minutes: round it
  Props.Key: got nothing, allowed is a key: name one`
	if diff := cmp.Diff(want, several.Error()); diff != "" {
		t.Errorf("several findings (-want +got):\n%s", diff)
	}
	var invalid finding.List
	if !errors.As(several, &invalid) || len(invalid) != 4 || invalid[1].Path != "Props.Size" {
		t.Errorf("findings: got %+v, want those four", invalid)
	}
}
