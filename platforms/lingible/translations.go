package lingible

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// TranslationInput is a request for a translation, on the wire.
type TranslationInput struct {
	Text string `json:"text" strict:"notblank" minLength:"1" maxLength:"100" doc:"Up to 50 characters of a free user, and up to 100 of a premium user." example:"no cap"`
	// Direction is [ToStandard] if empty.
	Direction Direction `json:"direction,omitempty" nullable:"true" enum:"to_standard,to_slang" default:"to_standard"`
	// Region is empty or a country, as of [Entry.Regions].
	Region string `json:"region,omitempty" nullable:"true" pattern:"^([A-Z]{2})?$" patternDescription:"the two capital letters of a country, such as GB" doc:"A country by ISO 3166-1 alpha-2, of a translation to_slang: its terms are used, and those that are understood everywhere. None by default: those that are understood everywhere." example:"GB"`
}

// Translation is a text with its translation, also on the wire.
type Translation struct {
	ID             string    `json:"translation_id,omitempty" dynamodbav:"translation_id" format:"uuid" doc:"Absent of an unchanged text, which is not kept." attribute:"UUID of version 7, which sorts by time"`
	OriginalText   string    `json:"original_text" dynamodbav:"original_text" attribute:"The text"`
	TranslatedText string    `json:"translated_text" dynamodbav:"translated_text" attribute:"Its translation"`
	Direction      Direction `json:"direction" dynamodbav:"direction" enum:"to_standard,to_slang" attribute:"to_standard or to_slang"`
	Confidence     float64   `json:"confidence_score" dynamodbav:"confidence_score" minimum:"0" maximum:"1" attribute:"0 to 1"`
	LowConfidence  bool      `json:"low_confidence" dynamodbav:"-" doc:"Whether confidence_score is under 0.3: the translation is not to be relied on. Of an unchanged text it says that no known term was found."`
	ModelUsed      string    `json:"model_used" dynamodbav:"model_used" example:"onesynth.language-1" attribute:"What translated it, such as onesynth.language-1 or the id of a model of Amazon Bedrock"`
	CreatedAt      time.Time `json:"created_at" dynamodbav:"created_at" attribute:"RFC 3339 in UTC with milliseconds"`
	wire.Extended
}

// ChargedTranslation is the answer to a request for a translation.
type ChargedTranslation struct {
	Translation
	// Glosses are empty of a translation to slang.
	Glosses []Gloss `json:"glosses,omitempty" nullable:"false" doc:"Terms that stay in the translation, since no plain words are known that fit in their place."`
	// Meanings are empty of an unchanged text.
	Meanings   []Gloss `json:"meanings,omitempty" nullable:"false" doc:"What the terms of slang mean that the translation replaced or, to slang, put in."`
	Unchanged  bool    `json:"unchanged" doc:"Whether the translation is the text itself, which is not charged."`
	DailyUsed  int     `json:"daily_used" doc:"Translations that are charged today, this one among them. Others that are made at the same moment may be missing."`
	DailyLimit int     `json:"daily_limit"`
}

// Gloss explains a term of a translation, on the wire.
type Gloss struct {
	Term    string `json:"term" doc:"As the lexicon writes it." example:"clap back"`
	Plain   string `json:"plain,omitempty" doc:"Plain words for it. Those of a term that stays do not fit in its place. Absent if there are none." example:"answer sharply"`
	Meaning string `json:"meaning" example:"To reply to criticism with criticism of one's own"`
}

// TranslationList is a page of translations.
type TranslationList struct {
	Translations []Translation `json:"translations" nullable:"false"`
	NextCursor   string        `json:"next_cursor,omitempty" doc:"For the parameter cursor, to get the next page. Absent on the last one."`
}
