package lingible

import "github.com/onesynth-cdk/onesynth/schema/validate"

// Direction says which way a text is translated.
type Direction string

// The directions.
const (
	ToStandard Direction = "to_standard"
	ToSlang    Direction = "to_slang"
)

// LowConfidence is the confidence below which a translation is unreliable.
const LowConfidence = 0.3

// Rendering is the translation of a text.
type Rendering struct {
	Text string
	// Confidence is from 0 to 1. The embedded language computes it as the share of the original's words that it knows,
	// and 0 for a text without words.
	Confidence float64
	// Unchanged says that the text is the original, byte for byte.
	Unchanged bool
	// Terms are the slugs of the lexicon's terms that the language found or inserted, each once, in the order of the
	// text. A term without a plain equivalent is found, too, and stays in the text.
	Terms []string
	// Glosses explain those terms of a text in slang that stay in it, each once.
	Glosses []Gloss
	// Meanings explain the terms that were replaced, or put in of a translation to slang, each once, in the order of
	// the text. Of a model they are the terms that the lexicon finds in the slang.
	Meanings []Gloss
}

// Proposal is a term that a user proposes for the lexicon, also on the wire.
type Proposal struct {
	Term    string `json:"slang_term" strict:"pattern=[^\\u0000-#%-*,-/:;?@[-\\]_\\u0060{}\\u007f-\\u00a1\\u00a7\\u00ab\\u00ad\\u00b4\\u00b6\\u00b7\\u00bb\\u00bf]" dynamodbav:"slang_term" minLength:"1" maxLength:"100" doc:"It needs a letter, digit or symbol." example:"parallel parked" attribute:"The term, as it was submitted"`
	Meaning string `json:"meaning" strict:"notblank" dynamodbav:"meaning" minLength:"1" maxLength:"500" example:"Pleased with something small that one did well" attribute:"What it means, up to 500 characters"`
	Example string `json:"example_usage" strict:"notblank" dynamodbav:"example_usage" minLength:"1" maxLength:"500" doc:"A sentence with the term." example:"She fixed the printer and was parallel parked all day." attribute:"A sentence with it, up to 500 characters"`
	// Context may be empty.
	Context string `json:"context,omitempty" dynamodbav:"context,omitempty" nullable:"true" maxLength:"500" doc:"Where the term is from, or who uses it." attribute:"Where it is from, up to 500 characters; absent when not given"`
}

// Check adds a problem for a term without a slug, or with one that is too long.
func (p Proposal) Check(problems *validate.Problems, _ string) {
	if !validate.IsBlank(p.Term) {
		checkSlug(problems, "slang_term", p.Term, nil)
	}
}

// Verdict is a language's judgement of a submission.
type Verdict struct {
	Valid bool `json:"valid" dynamodbav:"valid"`
	// Confidence says how sure the verdict is, from 0 to 1.
	Confidence float64 `json:"confidence" dynamodbav:"confidence" minimum:"0" maximum:"1"`
	// Usage is how much the term is expected to be used, from 1 to 10.
	Usage int `json:"usage_score" dynamodbav:"usage_score" minimum:"1" maximum:"10"`
	// Recommended says that the submission is valid, and that no rule found a weakness.
	Recommended bool `json:"-" dynamodbav:"-"`
	// Reasons say for people which rules are broken, or what would make a valid submission better.
	Reasons []string `json:"reasons" dynamodbav:"reasons" nullable:"false"`
}
