package askahuman

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Answer is an answer as a person gives it, on the wire, too. The tags are its limits.
type Answer struct {
	QuestionID     string  `json:"question_id" maxLength:"64" doc:"The question that it answers." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	Text           *string `json:"answer,omitempty" nullable:"true" minLength:"1" maxLength:"5000" doc:"To a text question: more than white space. It is kept as written." example:"Only if it is our fault."`
	Option         *int    `json:"selected_option,omitempty" nullable:"true" minimum:"0" maximum:"9" doc:"To a multiple choice question: the option's index, from 0."`
	Confidence     *int    `json:"confidence,omitempty" nullable:"true" minimum:"1" maximum:"5" doc:"How sure the person is." example:"4"`
	ResponseTimeMS *int64  `json:"response_time_ms,omitempty" nullable:"true" minimum:"0" doc:"Milliseconds from seeing the question to sending the answer." example:"42000"`
}

// Check adds a problem for an answer that has neither a text nor an option, or has both.
func (a Answer) Check(p *validate.Problems, _ string) {
	switch {
	case a.Text == nil && a.Option == nil:
		p.Add("answer", validate.RuleRequired, "is missing; send answer for a text question, or selected_option for "+
			"a multiple choice question")
	case a.Text != nil && a.Option != nil:
		p.Add("answer", validate.RuleConflict, "was sent together with selected_option; send answer for a text "+
			"question, or selected_option for a multiple choice question")
	}
}

// ValidateFor returns a [*validate.Error] if the answer does not fit the question.
func (a Answer) ValidateFor(question Question) error {
	var p validate.Problems
	switch question.Type {
	case TypeMultipleChoice:
		if a.Option == nil {
			p.Add("selected_option", validate.RuleRequired,
				"is missing, but this is a multiple choice question; send the index of an option, 0 to %d",
				len(question.Options)-1)
		} else {
			p.Number("selected_option", *a.Option, 0, len(question.Options)-1)
		}
	default:
		if a.Text == nil {
			p.Add("answer", validate.RuleRequired,
				"is missing, but this is a text question; send the answer as text, without selected_option")
		}
	}
	return p.Err()
}

// ResponseTo returns the answer in its stored form.
func (a Answer) ResponseTo(question Question, personHash string, now time.Time) Response {
	response := Response{
		ID: ResponseID(question.ID, personHash), QuestionID: question.ID, PersonHash: personHash, Answer: a.Text,
		SelectedOption: a.Option, Confidence: a.Confidence, ResponseTimeMS: a.ResponseTimeMS, CreatedAt: now,
		ExpiresAt: keptUntil(now.Add(KeepResponses)),
	}
	if a.Text != nil {
		response.ContentDigest, response.ContentLength = contentDigest(*a.Text), lengthOf(*a.Text)
	}
	return response
}

// BoardEntry is one person on a leaderboard.
type BoardEntry struct {
	PersonHash string
	Points     int
	Answers    int
}
