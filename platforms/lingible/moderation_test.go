package lingible_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Each limit of a proposal with the last value that it allows and the first that it does not.
func TestProposal(t *testing.T) {
	t.Parallel()
	type proposal = lingible.Proposal
	text := strings.Repeat
	term := func(s string) proposal { return proposal{Term: s, Meaning: "m", Example: "e"} }
	meaning := func(s string) proposal { return proposal{Term: "t", Meaning: s, Example: "e"} }
	example := func(s string) proposal { return proposal{Term: "t", Meaning: "m", Example: s} }
	context := func(s string) proposal { return proposal{Term: "t", Meaning: "m", Example: "e", Context: s} }
	for field, test := range map[string]struct{ ok, wrong []proposal }{
		"slang_term": {
			[]proposal{term("é"), term(text("é", 100)), term("💀"), term(text("👩‍🚀", 33)), term("no cap!"),
				term(text("ﷺ", 30))},
			[]proposal{term(""), term(text("é", 101)), term(" \t"), term("\u200b"), term("?!"), term("a\x00"),
				term(text("ﷺ", 31))},
		},
		"meaning": {
			[]proposal{meaning("意"), meaning(text("意", 500))},
			[]proposal{meaning(""), meaning(text("意", 501)), meaning("\n")},
		},
		"example_usage": {
			[]proposal{example("e"), example(text("🌉", 500))},
			[]proposal{example(""), example(text("🌉", 501)), example("\u00a0")},
		},
		"context": {
			[]proposal{context(""), context(text("ж", 500))},
			[]proposal{context(text("ж", 501)), context("a\x00")},
		},
	} {
		for _, p := range test.ok {
			if err := openapi.Check(p); err != nil {
				t.Errorf("%s: %+v: %v", field, p, err)
			}
			// An approved one is an entry that the lexicon takes.
			entry := lingible.Entry{Term: p.Term, Gloss: p.Meaning, Examples: []string{p.Example},
				Sources: []string{"community"}}
			if err := entry.Check(); err != nil {
				t.Errorf("%s: the entry of %+v: %v", field, p, err)
			}
		}
		for _, p := range test.wrong {
			wrong, ok := errors.AsType[*validate.Error](openapi.Check(p))
			if !ok || len(wrong.Problems) != 1 || wrong.Problems[0].Field != field {
				t.Errorf("%s: %+v: got %v", field, p, wrong)
			}
		}
	}
}
