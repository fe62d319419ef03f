package lingible

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// The limits of an [Entry]; lengths are in characters. In any script, an entry that reaches them all stays below the
// 400 KB that DynamoDB allows for an item.
const (
	// MaxTerm bounds a term, a variant and the text of a [Plain].
	MaxTerm = 100
	// MaxGloss bounds a gloss, and an attestation note.
	MaxGloss = 500
	// MaxExample bounds an example.
	MaxExample = 500
	// MaxVariants, MaxAlso, MaxExamples and MaxLabels bound the lists; labels are tags, regions and sources.
	MaxVariants, MaxAlso, MaxExamples, MaxLabels = 20, 5, 10, 10
	// MaxLabel bounds a tag or source.
	MaxLabel = 50
	// MaxSlug bounds a slug, in bytes. DynamoDB allows a partition key of 2,048 bytes. Only a term with characters that
	// stand for whole phrases has a longer slug.
	MaxSlug = 1000
)

// SourceInitial is the source of Lingible's initial terms, and SourceCommunity of terms that users have submitted.
const SourceInitial, SourceCommunity = "onesynth", "community"

// Category groups terms for the quiz by what they are about.
type Category string

// The categories.
const (
	Praise    Category = "praise"
	Criticism Category = "criticism"
	Feelings  Category = "feelings"
	People    Category = "people"
	Talk      Category = "talk"
	Effort    Category = "effort"
	Money     Category = "money"
	Food      Category = "food"
	Outings   Category = "outings"
)

// Categories returns all categories, in the order of their names in lists for people.
func Categories() []Category {
	return []Category{Praise, Criticism, Feelings, People, Talk, Effort, Money, Food, Outings}
}

// Difficulty is how hard the quiz's question about a term is.
type Difficulty string

// The difficulties.
const (
	Beginner     Difficulty = "beginner"
	Intermediate Difficulty = "intermediate"
	Advanced     Difficulty = "advanced"
)

// Difficulties returns all difficulties, the easiest first.
func Difficulties() []Difficulty { return []Difficulty{Beginner, Intermediate, Advanced} }

// PartOfSpeech says which inflections a term has.
type PartOfSpeech string

// The parts of speech. A Phrase and an Interjection have no inflections.
const (
	Verb         PartOfSpeech = "verb"
	Noun         PartOfSpeech = "noun"
	Adjective    PartOfSpeech = "adjective"
	Adverb       PartOfSpeech = "adverb"
	Interjection PartOfSpeech = "interjection"
	Phrase       PartOfSpeech = "phrase"
)

// PartsOfSpeech returns all parts of speech.
func PartsOfSpeech() []PartOfSpeech {
	return []PartOfSpeech{Verb, Noun, Adjective, Adverb, Interjection, Phrase}
}

// Plain is the standard English that can stand in a sentence where a term stands.
type Plain struct {
	// Text is the base form: a verb as an infinitive without "to", a noun in the singular without
	// an article.
	Text string `json:"text" dynamodbav:"text" example:"boast"`
	// PartOfSpeech is the part of speech of both the term and the text.
	PartOfSpeech PartOfSpeech `json:"part_of_speech" dynamodbav:"part_of_speech" enum:"verb,noun,adjective,adverb,interjection,phrase"`
}

// Entry is a term of the lexicon, also on the wire.
type Entry struct {
	// Term is the base form, as [Plain.Text].
	Term string `json:"term" dynamodbav:"term" example:"flex" attribute:"The term in its base form"`
	// Variants are other spellings and names of the term. Their slugs differ from the term's and from each other.
	Variants []string `json:"variants,omitempty" dynamodbav:"variants,omitempty" attribute:"-" nullable:"false"`
	Gloss    string   `json:"gloss" dynamodbav:"gloss" example:"To show off what you have or can do" attribute:"What it means, up to 500 characters"`
	// Plain is nil if only the gloss explains the term; a translator by the lexicon leaves such a term as it is.
	Plain *Plain `json:"plain,omitempty" dynamodbav:"plain,omitempty" attribute:"The standard English in its place: text and part_of_speech; absent when only the gloss explains the term"`
	// Also are further equivalents, at most [MaxAlso]. Each stands where those before it do not fit: for another part
	// of speech, or for a verb with or without an object.
	Also     []Plain  `json:"also,omitempty" dynamodbav:"also,omitempty" nullable:"false" attribute:"Further standard English, where plain does not fit in a sentence: each with text and part_of_speech"`
	Examples []string `json:"examples" dynamodbav:"examples" nullable:"false" attribute:"1 to 10 sentences"`
	Tags     []string `json:"tags,omitempty" dynamodbav:"tags,omitempty" nullable:"false" attribute:"Tags"`
	// Regions are countries by ISO 3166-1 alpha-2, beginning with those that use the term most. Empty: all that speak
	// English.
	Regions []string `json:"regions,omitempty" dynamodbav:"regions,omitempty" nullable:"false" example:"[\"GB\",\"IE\"]" attribute:"Countries by ISO 3166-1 alpha-2"`
	// Sources say where the entry is from, at least one. The first is the key of the table's index
	// by source.
	Sources []string `json:"sources" dynamodbav:"sources" nullable:"false" attribute:"Where the entry is from: onesynth, community, or others"`
	// FirstAttested is a year, or a decade such as "1990s". Empty: it is unknown.
	FirstAttested   string   `json:"first_attested,omitempty" dynamodbav:"first_attested,omitempty" example:"1990s" attribute:"Year or decade, such as 1987 or 1980s"`
	AttestationNote string   `json:"attestation_note,omitempty" dynamodbav:"attestation_note,omitempty" attribute:"What is known of the first use"`
	IsQuizEligible  bool     `json:"is_quiz_eligible" dynamodbav:"is_quiz_eligible" attribute:"Whether the quiz asks about it"`
	QuizCategory    Category `json:"quiz_category,omitempty" dynamodbav:"quiz_category,omitempty" doc:"Set on every term that the quiz asks about." attribute:"praise, criticism, feelings, people, talk, effort, money, food or outings; absent unless the quiz asks about it"`
	// Confidence is how sure the meaning is, and Momentum how common the term is.
	Confidence float64 `json:"confidence" dynamodbav:"confidence" minimum:"0" maximum:"1" attribute:"How sure the meaning is, 0 to 1"`
	Momentum   float64 `json:"momentum" dynamodbav:"momentum" minimum:"0" maximum:"1" attribute:"How much the term is in use, 0 to 1"`
}

// withoutApostrophe drops the characters by which people type an apostrophe.
func withoutApostrophe(r rune) rune {
	if strings.ContainsRune("'’‘ʼ＇`´", r) {
		return -1
	}
	return r
}

// Slug returns the normal form of a term, which identifies it: words in lower case (Unicode's NFKC), with a hyphen
// between them. A slug is its own slug, and never has white space or "#".
//
// Two terms have one slug if they differ only in case, in width or ligatures, in apostrophes ("y'all", "yall"), in
// other punctuation or white space between words ("low-key", "low key"), at their ends ("bet!", "bet"), or in
// characters that do not show. Accents, symbols and emoji make a difference. A term without letters, digits and symbols
// has the empty slug.
func Slug(term string) string {
	folded := norm.NFKC.String(strings.ToLower(strings.ToUpper(norm.NFKC.String(strings.Map(withoutApostrophe, term)))))
	var slug strings.Builder
	isGap := false
	for _, r := range folded {
		switch {
		case withoutApostrophe(r) < 0, unicode.In(r, unicode.Cf, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point):
		case unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsControl(r):
			isGap = slug.Len() > 0
		default:
			if isGap {
				slug.WriteByte('-')
			}
			isGap = false
			slug.WriteRune(r)
		}
	}
	return norm.NFKC.String(slug.String())
}

// Slug returns the slug of the term.
func (e Entry) Slug() string { return Slug(e.Term) }

// QuizScore returns confidence × momentum, from 0 to 1, rounded to nine decimals: 0.8125 × 0.8 is then 0.65, as on
// paper.
func (e Entry) QuizScore() float64 { return math.Round(e.Confidence*e.Momentum*1e9) / 1e9 }

// QuizDifficulty returns the difficulty whose [Difficulty.Scores] include the entry's score.
func (e Entry) QuizDifficulty() Difficulty {
	for _, difficulty := range Difficulties() {
		if least, _ := difficulty.Scores(); e.QuizScore() >= least {
			return difficulty
		}
	}
	return Advanced
}

// Scores returns the lowest and the highest [Entry.QuizScore] of a difficulty: [Beginner] from 0.85, [Intermediate]
// from 0.65, else [Advanced]. An empty difficulty has all scores.
func (d Difficulty) Scores() (least, most float64) {
	const next = 1e-9 // between one score and the next
	switch d {
	case Beginner:
		return 0.85, 1
	case Intermediate:
		return 0.65, 0.85 - next
	case Advanced:
		return 0, 0.65 - next
	}
	return 0, 1
}

// TrendCategory returns [Meme] for an entry with that tag, and else the category of its part of speech.
func (e Entry) TrendCategory() TrendCategory {
	switch {
	case slices.Contains(e.Tags, "meme"):
		return Meme
	case e.Plain != nil && e.Plain.PartOfSpeech == Phrase:
		return PhraseLike
	case e.Plain != nil && e.Plain.PartOfSpeech == Interjection:
		return Expression
	}
	return Slang
}

// Trend returns the entry as a trend, with its momentum in per cent as its popularity.
func (e Entry) Trend() ProposedTrend {
	trend := ProposedTrend{
		Term: e.Term, Definition: e.Gloss, Category: e.TrendCategory(), Popularity: math.Round(e.Momentum * 100),
		Origin: e.AttestationNote, Related: e.Variants,
	}
	if len(e.Examples) > 0 {
		trend.Example = e.Examples[0]
	}
	return trend
}

// region and attested are the forms of [Entry.Regions] and [Entry.FirstAttested].
var (
	region   = regexp.MustCompile(`^[A-Z]{2}$`)
	attested = regexp.MustCompile(`^([12][0-9]{3}|[12][0-9]{2}0s)$`)
)

// Check returns a [*validate.Error] with all that is wrong with the entry, or nil.
func (e Entry) Check() error {
	var p validate.Problems
	checkForm(&p, "term", e.Term, nil)
	p.Count("variants", len(e.Variants), 0, MaxVariants)
	forms := []string{e.Slug()}
	for i, variant := range e.Variants {
		checkForm(&p, fmt.Sprintf("variants[%d]", i), variant, forms)
		forms = append(forms, Slug(variant))
	}
	p.Text("gloss", e.Gloss, 1, MaxGloss)
	if e.Plain != nil {
		checkPlain(&p, "plain", *e.Plain)
	}
	p.Count("also", len(e.Also), 0, MaxAlso)
	for i, plain := range e.Also {
		at := fmt.Sprintf("also[%d]", i)
		checkPlain(&p, at, plain)
		if e.Plain == nil {
			p.Add(at, validate.RuleUnique, "is further English of a term without plain: give plain")
		} else if plain == *e.Plain || slices.Contains(e.Also[:i], plain) {
			p.Add(at, validate.RuleUnique, "is %s again; give each once", validate.Quoted(plain.Text))
		}
	}
	checkList(&p, "examples", e.Examples, 1, MaxExamples, MaxExample)
	checkList(&p, "tags", e.Tags, 0, MaxLabels, MaxLabel)
	checkList(&p, "regions", e.Regions, 0, MaxLabels, MaxLabel)
	for i, r := range e.Regions {
		if !region.MatchString(r) {
			p.Add(fmt.Sprintf("regions[%d]", i), validate.RulePattern,
				"is %s; it needs the two capital letters of a country, such as GB", validate.Quoted(r))
		}
	}
	checkList(&p, "sources", e.Sources, 1, MaxLabels, MaxLabel)
	if e.FirstAttested != "" && !attested.MatchString(e.FirstAttested) {
		p.Add("first_attested", validate.RulePattern, "is %s; it needs a year or decade, such as 1987 or 1980s",
			validate.Quoted(e.FirstAttested))
	}
	p.Text("attestation_note", e.AttestationNote, 0, MaxGloss)
	if e.IsQuizEligible || e.QuizCategory != "" {
		validate.OneOf(&p, "quiz_category", e.QuizCategory, Categories())
	}
	checkShare(&p, "confidence", e.Confidence)
	checkShare(&p, "momentum", e.Momentum)
	return p.Err()
}

func checkPlain(p *validate.Problems, field string, plain Plain) {
	p.Text(field+".text", plain.Text, 1, MaxTerm)
	validate.OneOf(p, field+".part_of_speech", plain.PartOfSpeech, PartsOfSpeech())
}

// checkForm checks a term or variant, whose slug must be none of those taken.
func checkForm(p *validate.Problems, field, text string, taken []string) {
	p.Text(field, text, 1, MaxTerm)
	checkSlug(p, field, text, taken)
}

// checkSlug checks that a text has a slug, which must be none of those taken.
func checkSlug(p *validate.Problems, field, text string, taken []string) {
	switch slug := Slug(text); {
	case slug == "":
		p.Add(field, validate.RulePattern, "is %s; it needs a letter, digit or symbol", validate.Quoted(text))
	case len(slug) > MaxSlug:
		p.Add(field, validate.RuleLength, "has a normal form of %d bytes; it may have at most %d", len(slug), MaxSlug)
	case slices.Contains(taken, slug):
		p.Add(field, validate.RuleUnique, "is %s, which is the term or a variant before, written otherwise; give "+
			"each once", validate.Quoted(text))
	}
}

// checkList checks how many texts a list has, that each is there once, and how long each is.
func checkList(p *validate.Problems, field string, texts []string, least, most, longest int) {
	p.Count(field, len(texts), least, most)
	for i, text := range texts {
		at := fmt.Sprintf("%s[%d]", field, i)
		p.Text(at, text, 1, longest)
		if slices.Contains(texts[:i], text) {
			p.Add(at, validate.RuleUnique, "is %s again; give each once", validate.Quoted(text))
		}
	}
}

func checkShare(p *validate.Problems, field string, share float64) {
	if !(share >= 0 && share <= 1) { // NaN is out of range, too
		p.Add(field, validate.RuleRange, "is %v; it must be from 0 to 1", share)
	}
}
