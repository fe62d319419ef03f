package props_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/constructs-go/constructs/v10"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/props"
)

func TestFindings(t *testing.T) {
	t.Parallel()
	var f props.Findings
	if err := f.Err(); err != nil {
		t.Fatalf("no findings: got %v, want nil", err)
	}
	f.Add("Props.Name", "a b", "letters", "respell it")
	one := f.Err()
	f.Add("Props.Size", -1, "1 or more", "leave it 0")
	f.Add("Props.Every", 90*time.Second, "whole minutes", "round it")
	f.Append(props.Finding{Path: "Props.Key", Got: "nothing", Allowed: "a key", Remedy: "name one"})
	several := fmt.Errorf("construct X: %w", f.Err())

	if diff := cmp.Diff("1 finding:\n  Props.Name: got \"a b\", allowed is letters: respell it", one.Error()); diff != "" {
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
	var invalid *props.Error
	if !errors.As(several, &invalid) || len(invalid.Findings) != 4 || invalid.Findings[1].Path != "Props.Size" {
		t.Errorf("findings: got %+v, want those four", invalid)
	}
}

// One error has all that is wrong with scope, id and props. What takes the CDK to find
// is in the test of package platform.
func TestAccept(t *testing.T) {
	t.Parallel()
	var f props.Findings
	f.Add("Props.Size", -1, "1 or more", "leave it 0")
	var typed *noConstruct
	other := errors.New("the day is wrong")
	tests := map[string]struct {
		scope constructs.Construct
		id    string
		errs  []error
		want  []string
	}{
		"ErrScope":   {nil, "Thing", []error{nil, nil}, []string{"thing Thing: 1 finding:", "  scope: got nil, "}},
		"ErrPointer": {typed, "Thing", nil, []string{"thing Thing: 1 finding:", "  scope: got nil, "}},
		"ErrAll":     {nil, "", []error{f.Err(), f.Err()}, []string{"thing: 4 findings:", "  scope: ", "  id: got \"\", ", "  Props.Size: ", "  Props.Size: "}},
		"ErrOther":   {nil, "Thing", []error{other}, []string{"thing Thing: 1 finding:", "  scope: got nil, ", "the day is wrong"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			defer func() {
				// In a test a refusal is a panic with an error.
				err, _ := recover().(error)
				if err != nil {
					got = strings.Split(err.Error(), "\n")
				}
				if len(got) != len(test.want) {
					t.Fatalf("got %v, want %v", err, test.want)
				}
				for i, want := range test.want {
					if !strings.HasPrefix(got[i], want) {
						t.Errorf("line %d: got %q, want it to begin with %q", i, got[i], want)
					}
				}
				if slices.Contains(test.errs, other) && !errors.Is(err, other) {
					t.Errorf("%v is not found in %v", other, err)
				}
			}()
			props.Accept("thing", test.scope, test.id, test.errs...)
		})
	}
}

// noConstruct is the type of a construct that is a nil pointer.
type noConstruct struct{ constructs.Construct }

func TestLogRetention(t *testing.T) {
	t.Parallel()
	for _, right := range []props.LogRetention{0, props.OneDay, props.OneMonth, props.TenYears} {
		var f props.Findings
		if right.Check(&f, "Props.LogRetention"); f.Err() != nil || right.Days() == "" {
			t.Errorf("%d days: got %v, want no finding", right, f.Err())
		}
	}
	for _, wrong := range []props.LogRetention{-1, 2, 31, 36500} {
		var f props.Findings
		if wrong.Check(&f, "Props.LogRetention"); f.Err() == nil {
			t.Errorf("%d days: got no finding, want one", wrong)
		}
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		check func(f *props.Findings)
		right bool
	}{
		"NoPrefix":       {func(f *props.Findings) { props.CheckPrefix(f, "p", "") }, true},
		"Prefix":         {func(f *props.Findings) { props.CheckPrefix(f, "p", "a-2") }, true},
		"ErrPrefix":      {func(f *props.Findings) { props.CheckPrefix(f, "p", "a_2") }, false},
		"ErrPrefixEnd":   {func(f *props.Findings) { props.CheckPrefix(f, "p", "a-") }, false},
		"ErrPrefixStart": {func(f *props.Findings) { props.CheckPrefix(f, "p", "2a") }, false},
		"Kept":           {func(f *props.Findings) { props.CheckRemoval(f, "p", false, true) }, true},
		"Removed":        {func(f *props.Findings) { props.CheckRemoval(f, "p", true, false) }, true},
		"ErrBoth":        {func(f *props.Findings) { props.CheckRemoval(f, "p", true, true) }, false},
		"NoNamespace":    {func(f *props.Findings) { props.CheckMetricNamespace(f, "p", "") }, true},
		"Namespace":      {func(f *props.Findings) { props.CheckMetricNamespace(f, "p", "Acme/team_1") }, true},
		"ErrOfAWS":       {func(f *props.Findings) { props.CheckMetricNamespace(f, "p", "AWS/Lambda") }, false},
		"ErrNamespace":   {func(f *props.Findings) { props.CheckMetricNamespace(f, "p", "Acme:1") }, false},
		"ErrEndsNowhere": {func(f *props.Findings) { props.CheckMetricNamespace(f, "p", "Acme/") }, false},
		"ErrLong":        {func(f *props.Findings) { props.CheckMetricNamespace(f, "p", strings.Repeat("x", 201)) }, false},
		"NoEmail":        {func(f *props.Findings) { props.CheckEmail(f, "p", "") }, true},
		"Email":          {func(f *props.Findings) { props.CheckEmail(f, "p", "a.b+c@x.example") }, true},
		"EmailOfAnother": {func(f *props.Findings) { props.CheckEmail(f, "p", "${Token[TOKEN.7]}") }, true},
		"ErrNoEmail":     {func(f *props.Findings) { props.CheckEmail(f, "p", "ops") }, false},
		"ErrNamedEmail":  {func(f *props.Findings) { props.CheckEmail(f, "p", "Ops <ops@example.com>") }, false},
		"ErrTwoEmails":   {func(f *props.Findings) { props.CheckEmail(f, "p", "a@example.com, b@example.com") }, false},
		"ErrLongEmail":   {func(f *props.Findings) { props.CheckEmail(f, "p", strings.Repeat("x", 250)+"@example.com") }, false},
		"NoPort":         {func(f *props.Findings) { props.CheckLocalPort(f, "p", 0) }, true},
		"Port":           {func(f *props.Findings) { props.CheckLocalPort(f, "p", 65535) }, true},
		"ErrLowPort":     {func(f *props.Findings) { props.CheckLocalPort(f, "p", 1023) }, false},
		"ErrHighPort":    {func(f *props.Findings) { props.CheckLocalPort(f, "p", 65536) }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f props.Findings
			if test.check(&f); (f.Err() == nil) != test.right {
				t.Errorf("got %v, want right to be %v", f.Err(), test.right)
			}
		})
	}
}
