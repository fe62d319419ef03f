package setup

import (
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/bucket"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/bedrock"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Exporter returns the exports of the lexicon, in the bucket that the variable EXPORTS_BUCKET names.
func Exporter(environment kit.Environment, db *dynamo.DB) (*service.Exporter, error) {
	values, err := environment.Require("EXPORTS_BUCKET")
	if err != nil {
		return nil, err
	}
	exports := bucket.New(environment.AWS, values[0], "application/json")
	return &service.Exporter{DB: db, Put: exports.Put, Read: exports.Read, Open: exports.Open,
		Index: language.Write}, nil
}

// WorkTime is how long a request may take, at most, so that the claims of one that dies are short: the embedded
// language takes milliseconds. Zero, with a model: as long as its function.
func WorkTime(environment kit.Environment) time.Duration {
	if environment.Getenv(schema.ModelVariable) != "" {
		return 0
	}
	return 9 * time.Second
}

// Language returns what translates, validates and proposes trends, and the lexicon of the latest
// export. It is the model that schema.ModelVariable names, or without it the embedded language.
func Language(environment kit.Environment, db *dynamo.DB) (service.Language, *language.Live, error) {
	exports, err := Exporter(environment, db)
	if err != nil {
		return nil, nil, err
	}
	initial, err := lexicons.Initial()
	if err != nil {
		return nil, nil, err
	}
	lexicon := language.NewLive(exports.Latest, initial, environment.Log, nil)
	if environment.Getenv(schema.ModelVariable) == "" {
		return lexicon, lexicon, nil
	}
	model, err := bedrock.Open(environment, lexicon)
	return model, lexicon, err
}
