package props_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// One error has all that is wrong with scope, id and props. What takes the CDK to find
// is in the test of package platform.
func TestAccept(t *testing.T) {
	t.Parallel()
	var f finding.List
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
		"ErrAll": {nil, "", []error{f.Err(), f.Err()},
			[]string{"thing: 4 findings:", "  scope: ", "  id: got \"\", ", "  Props.Size: ", "  Props.Size: "}},
		"ErrOther": {nil, "Thing", []error{other},
			[]string{"thing Thing: 1 finding:", "  scope: got nil, ", "the day is wrong"}},
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
	for _, right := range []props.LogRetention{0, props.OneDay, props.OneMonth, props.ThirteenMonths,
		props.EighteenMonths, props.ThreeYears, props.TenYears, props.Forever} {
		var f finding.List
		if right.Check(&f, "Props.LogRetention"); f.Err() != nil || right.Days() == "" {
			t.Errorf("%d days: got %v, want no finding", right, f.Err())
		}
	}
	for _, wrong := range []props.LogRetention{-2, 2, 31, 36500} {
		var f finding.List
		if wrong.Check(&f, "Props.LogRetention"); f.Err() == nil {
			t.Errorf("%d days: got no finding, want one", wrong)
		}
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		check func(f *finding.List)
		right bool
	}{
		"NoPrefix":       {func(f *finding.List) { props.CheckPrefix(f, "p", "") }, true},
		"Prefix":         {func(f *finding.List) { props.CheckPrefix(f, "p", "a-2") }, true},
		"ErrPrefix":      {func(f *finding.List) { props.CheckPrefix(f, "p", "a_2") }, false},
		"ErrPrefixEnd":   {func(f *finding.List) { props.CheckPrefix(f, "p", "a-") }, false},
		"ErrPrefixStart": {func(f *finding.List) { props.CheckPrefix(f, "p", "2a") }, false},
		"Kept":           {func(f *finding.List) { props.CheckRemoval(f, "p", false, true) }, true},
		"Removed":        {func(f *finding.List) { props.CheckRemoval(f, "p", true, false) }, true},
		"ErrBoth":        {func(f *finding.List) { props.CheckRemoval(f, "p", true, true) }, false},
		"NoNamespace":    {func(f *finding.List) { props.CheckMetricNamespace(f, "p", "") }, true},
		"Namespace":      {func(f *finding.List) { props.CheckMetricNamespace(f, "p", "Acme/team_1") }, true},
		"ErrOfAWS":       {func(f *finding.List) { props.CheckMetricNamespace(f, "p", "AWS/Lambda") }, false},
		"ErrNamespace":   {func(f *finding.List) { props.CheckMetricNamespace(f, "p", "Acme:1") }, false},
		"ErrEndsNowhere": {func(f *finding.List) { props.CheckMetricNamespace(f, "p", "Acme/") }, false},
		"ErrLong": {func(f *finding.List) {
			props.CheckMetricNamespace(f, "p", strings.Repeat("x", 201))
		}, false},
		"NoEmail":        {func(f *finding.List) { props.CheckEmail(f, "p", "") }, true},
		"Email":          {func(f *finding.List) { props.CheckEmail(f, "p", "a.b+c@x.example") }, true},
		"EmailOfAnother": {func(f *finding.List) { props.CheckEmail(f, "p", "${Token[TOKEN.7]}") }, true},
		"ErrNoEmail":     {func(f *finding.List) { props.CheckEmail(f, "p", "ops") }, false},
		"ErrNamedEmail":  {func(f *finding.List) { props.CheckEmail(f, "p", "Ops <ops@example.com>") }, false},
		"ErrTwoEmails":   {func(f *finding.List) { props.CheckEmail(f, "p", "a@example.com, b@example.com") }, false},
		"ErrLongEmail": {func(f *finding.List) {
			props.CheckEmail(f, "p", strings.Repeat("x", 250)+"@example.com")
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f finding.List
			if test.check(&f); (f.Err() == nil) != test.right {
				t.Errorf("got %v, want right to be %v", f.Err(), test.right)
			}
		})
	}
}
