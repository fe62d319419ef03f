package askahuman

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Answer is an answer as a person gives it, on the wire, too. The tags are its limits.
type Answer struct {
	QuestionID     string  `json:"question_id" maxLength:"64" doc:"The question that it answers." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	Text           *string `json:"answer,omitempty" strict:"notblank" nullable:"true" minLength:"1" maxLength:"5000" doc:"To a text question: more than white space. It is kept as written." example:"Only if it is our fault."`
	Option         *int    `json:"selected_option,omitempty" nullable:"true" minimum:"0" maximum:"9" doc:"To a multiple choice question: the option's index, from 0."`
	Confidence     *int    `json:"confidence,omitempty" nullable:"true" minimum:"1" maximum:"5" doc:"How sure the person is." example:"4"`
	ResponseTimeMS *int64  `json:"response_time_ms,omitempty" nullable:"true" minimum:"0" doc:"Milliseconds from seeing the question to sending the answer." example:"42000"`
	Handed         *string `json:"handed,omitempty" nullable:"true" maxLength:"255" doc:"The handed of the question, as the person read it. With it, an answer that comes too late still earns its points for 60 seconds."`
	// HandedAt is when the person was handed the question, as Handed says. Zero: never, or Handed is not what the
	// platform signed for this person and question.
	HandedAt time.Time `json:"-"`
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

// LateWindow is the time after the end of a question in which an answer still earns its points.
const LateWindow = time.Minute

// endsWithin is how long a request that ends a question takes at most. The end is the moment at which it began, and the
// question is still handed to people until it is done.
const endsWithin = 10 * time.Second

// RewardedLate reports whether the answer earns points at now, although the question has ended: it ended at most
// [LateWindow] ago, and was handed to the person before that.
func (a Answer) RewardedLate(ended Question, now time.Time) bool {
	end := time.Time(ended.ClosedAt)
	if end.IsZero() {
		end = time.Time(ended.Deadline)
	}
	return !a.HandedAt.IsZero() && a.HandedAt.Before(end.Add(endsWithin)) && !now.After(end.Add(LateWindow))
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

// Receipt is what a person gets for an answer.
type Receipt struct {
	ResponseID   string  `json:"response_id" format:"uuid"`
	PointsEarned int     `json:"points_earned" example:"12"`
	NewBadges    []Badge `json:"new_badges" nullable:"false"`
	TotalPoints  int     `json:"total_points" example:"112"`
	Answers      int     `json:"answers" doc:"How many have answered the question, this answer included. It is exact for the first answer and where completed is true; else it is at least as many, for others may answer at the same moment." example:"3"`
	Completed    bool    `json:"completed" doc:"True: the question has all the answers that it wanted, and this was the last one."`
	// Nil: there is no badge left.
	NextBadge *NextBadge `json:"next_badge" doc:"The badge that is nearest after this answer, as the first of next_badges in the person's stats. Null for a person who has all."`
	// Nil: not told.
	OptionShares []int `json:"option_shares,omitempty" nullable:"false" doc:"How many chose each option, this answer included, in the order of options: whole percent, 100 together. Only of a multiple choice question with five answers or more, on a platform that tells them; absent also if they could not be read." example:"[60,40]"`
	Late         bool  `json:"late,omitempty" doc:"true: the question had ended. The answer has earned its points and counts for nothing else: its agent does not get it, and response_id names nothing."`
	// SinceAsked is the age of the question.
	SinceAsked time.Duration `json:"-"`
}

// OwnAnswer is an answer as the person sees it who gave it.
type OwnAnswer struct {
	QuestionID string `json:"question_id" format:"uuid"`
	// Prompt, Option and Status are empty once the question has been deleted or hidden.
	Prompt         string    `json:"prompt,omitempty" doc:"The question; absent once it has been deleted or hidden." example:"Should an error message apologise?"`
	Answer         *string   `json:"answer,omitempty" doc:"To a text question." example:"Only if it is our fault."`
	SelectedOption *int      `json:"selected_option,omitempty" doc:"To a multiple choice question: the option's index, from 0."`
	Option         string    `json:"option,omitempty" doc:"The text of that option; absent like prompt." example:"Send"`
	Confidence     *int      `json:"confidence,omitempty" minimum:"1" maximum:"5" doc:"If the person gave it."`
	Points         int       `json:"points" doc:"What the answer earned." example:"12"`
	CreatedAt      wire.Time `json:"created_at" format:"date-time" example:"2026-02-02T09:45:00.000Z"`
	Status         Status    `json:"status,omitempty" enum:"OPEN,PARTIAL,CLOSED,EXPIRED" doc:"The question's, at this moment; absent like prompt." example:"PARTIAL"`
}

// OwnAnswerList is a page of a person's own answers.
type OwnAnswerList struct {
	Responses  []OwnAnswer `json:"responses" nullable:"false" doc:"Newest first."`
	NextCursor string      `json:"next_cursor,omitempty" doc:"Where the next page begins, if there is one."`
}
