package props

import (
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
)

// part is what a construct may embed beside itself.
type part struct{ Location }

type whole struct {
	constructs.Construct
	part
}

// A struct of an importer may embed a construct of this module, and is another one itself.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	type own struct {
		constructs.Construct
		Location
	}
	type wrapping struct {
		constructs.Construct
		*own
	}
	type other struct {
		constructs.Construct
		Location string
	}
	location := Location{stack: struct{ awscdk.Stack }{}, region: "eu-west-1", path: "A/B"}
	for name, test := range map[string]struct {
		scope constructs.Construct
		want  string
	}{
		"OK":          {&own{Location: location}, "A/B"},
		"OKPart":      {&whole{part: part{location}}, "A/B"},
		"NotYet":      {&own{}, ""},
		"Wrapping":    {&wrapping{own: &own{Location: location}}, ""},
		"WrappingNil": {&wrapping{}, ""},
		"Other":       {&other{Location: "elsewhere"}, ""},
		"Interface":   {struct{ constructs.Construct }{}, ""},
	} {
		if got := embedded(test.scope).path; got != test.want {
			t.Errorf("%s: path: got %q, want %q", name, got, test.want)
		}
	}
	if got, want := location.below("GET /x").path, "A/B/GET --x"; got != want {
		t.Errorf("below: got %q, want %q", got, want)
	}
	if got, want := (Location{}).below("A").path, "A"; got != want {
		t.Errorf("below a stack: got %q, want %q", got, want)
	}
}
