// Package bedrock is the language of Lingible by a language model of Amazon Bedrock.
//
// What users write is data: strings of one JSON document in the message, and the system prompts say
// so. What a model replies counts only if it fits exactly, so a text that talks the model into
// something else changes a result within its bounds at most.
package bedrock

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

const (
	// callTimeout leaves a caller, and each submission of a batch, time for what follows.
	callTimeout = 10 * time.Second
	// shortReply bounds a translation or a verdict, and longReply trends: in tokens.
	shortReply, longReply = 1024, 4096
	// maxTrends is how many trends fit into a reply.
	maxTrends = 20
	// maxReasons and maxRelated bound lists.
	maxReasons, maxRelated = 5, 10
)

// The system prompts say what to do, and the form of the reply.
var (
	//go:embed translate.txt
	translatePrompt string
	//go:embed validate.txt
	validatePrompt string
	//go:embed trends.txt
	trendsPrompt string
)

// Language is a [service.Language].
type Language struct {
	client  *converse.Client
	lexicon service.Language
}

var _ service.Language = (*Language)(nil)

// Open returns the language for the model that the function finds in its environment. lexicon finds
// the terms of the lexicon in texts. An error names a variable that is missing.
func Open(environment kit.Environment, lexicon service.Language) (*Language, error) {
	client, err := converse.Open(environment)
	if err != nil {
		return nil, err
	}
	return &Language{client: client, lexicon: lexicon}, nil
}

// ModelID is the id of the model.
func (l *Language) ModelID() string { return l.client.ModelID() }

// ask asks the model for a reply, which check finds nothing wrong with.
func (l *Language) ask(ctx context.Context, q converse.Question, reply any, check func(*validate.Problems)) error {
	if err := l.client.Ask(ctx, q, reply); err != nil {
		return err
	}
	var p validate.Problems
	check(&p)
	// The messages of problems may quote the reply.
	if wrong, ok := errors.AsType[*validate.Error](p.Err()); ok {
		return model.Errorf(model.Unusable, "%s of the reply does not fit (%s)", wrong.Problems[0].Field,
			wrong.Problems[0].Constraint.Rule)
	}
	return nil
}

type sentence struct {
	Text      string             `json:"text"`
	Direction lingible.Direction `json:"direction"`
	Region    string             `json:"region,omitempty"`
}

type translation struct {
	Translation string  `json:"translation"`
	Confidence  float64 `json:"confidence"`
}

func (t *translation) check(p *validate.Problems) {
	p.Text("translation", t.Translation, 1, 500)
	checkRange(p, "confidence", t.Confidence, 1)
}

// Translate asks the model. White space around a text makes no difference.
func (l *Language) Translate(ctx context.Context, in lingible.TranslationInput) (lingible.Rendering, error) {
	data := sentence{Text: in.Text, Direction: cmp.Or(in.Direction, lingible.ToStandard)}
	if data.Direction == lingible.ToSlang {
		data.Region = in.Region
	}
	within, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var reply translation
	if err := l.ask(within, converse.Question{System: translatePrompt, Data: data, MaxTokens: shortReply},
		&reply, reply.check); err != nil {
		return lingible.Rendering{}, err
	}
	rendering := lingible.Rendering{Text: reply.Translation, Confidence: stored(reply.Confidence)}
	if strings.TrimSpace(reply.Translation) == strings.TrimSpace(in.Text) {
		rendering.Text, rendering.Unchanged = in.Text, true
	}
	slang := in.Text
	if data.Direction == lingible.ToSlang {
		slang = rendering.Text
	}
	found, err := l.lexicon.Translate(ctx, lingible.TranslationInput{Text: slang})
	rendering.Terms = found.Terms
	if !rendering.Unchanged {
		rendering.Meanings = slices.Concat(found.Meanings, found.Glosses)
	}
	return rendering, err
}

type verdict struct {
	Valid      bool     `json:"valid"`
	Confidence float64  `json:"confidence"`
	UsageScore int      `json:"usage_score"`
	Reasons    []string `json:"reasons"`
}

func (v *verdict) check(p *validate.Problems) {
	checkRange(p, "confidence", v.Confidence, 1)
	p.Number("usage_score", v.UsageScore, 1, 10)
	for _, reason := range v.Reasons {
		p.Text("reasons", reason, 1, 300)
	}
	least := 1
	if v.Valid {
		least = 0
	}
	p.Count("reasons", len(v.Reasons), least, maxReasons)
}

// Validate asks the model.
func (l *Language) Validate(ctx context.Context, submission lingible.Proposal) (lingible.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var reply verdict
	if err := l.ask(ctx, converse.Question{System: validatePrompt, Data: submission, MaxTokens: shortReply}, &reply,
		reply.check); err != nil {
		return lingible.Verdict{}, err
	}
	return lingible.Verdict{
		Valid: reply.Valid, Confidence: stored(reply.Confidence), Usage: reply.UsageScore, Reasons: reply.Reasons,
		Recommended: reply.Valid && len(reply.Reasons) == 0,
	}, nil
}

type request struct {
	Most int `json:"most"`
}

type trends struct {
	Terms []lingible.ProposedTrend `json:"terms"`
}

func (t *trends) check(p *validate.Problems, most int) {
	p.Count("terms", len(t.Terms), 0, most)
	known := map[string]bool{"": true}
	for _, term := range t.Terms {
		term.Check(p, "")
		p.Count("related", len(term.Related), 0, maxRelated)
		slug := lingible.Slug(term.Term)
		if known[slug] || len(slug) > lingible.MaxSlug {
			p.Add("term", validate.RuleUnique, "is no term, or there twice")
		}
		known[slug] = true
	}
}

// Trends asks the model, for 20 terms at most.
func (l *Language) Trends(ctx context.Context, most int) ([]lingible.ProposedTrend, error) {
	most = min(most, maxTrends)
	var reply trends
	err := l.ask(ctx, converse.Question{System: trendsPrompt, Data: request{most}, MaxTokens: longReply}, &reply,
		func(p *validate.Problems) {
			reply.check(p, most)
		})
	return reply.Terms, err
}

// stored is a confidence that DynamoDB stores: it refuses numbers below 1e-130.
func stored(confidence float64) float64 {
	if confidence < 1e-9 {
		return 0
	}
	return confidence
}

func checkRange(p *validate.Problems, field string, value, most float64) {
	if value < 0 || value > most {
		p.Add(field, validate.RuleRange, "is %v; it must be from 0 to %v", value, most)
	}
}
