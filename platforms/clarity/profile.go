package clarity

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	// ProfileWindow is the number of latest attempts that the figures of a profile are computed from.
	ProfileWindow = 10
	// MinRetentionDays is the shortest retention of profiles. A stream keeps its records for a shorter time, so no
	// record comes again after the profile that it has made is removed.
	MinRetentionDays = 7
	// MaxRetentionDays is the longest retention short of for ever: a hundred years.
	MaxRetentionDays = 36500

	maxWeaknesses   = 3
	maxImprovements = 3
)

// Trend is the direction of a dimension's scores.
type Trend string

// The trends.
const (
	Improving Trend = "improving"
	Declining Trend = "declining"
	Stable    Trend = "stable"
)

// DimensionStatistics are the figures of one dimension. Averages, deviations and differences have at most 4 decimals.
type DimensionStatistics struct {
	Name              Dimension `json:"name" dynamodbav:"name"`
	MovingAverage     float64   `json:"movingAverage" dynamodbav:"movingAverage" minimum:"0" maximum:"4" doc:"The mean of recentScores."`
	StandardDeviation float64   `json:"standardDeviation" dynamodbav:"standardDeviation" doc:"The population standard deviation of recentScores."`
	Trend             Trend     `json:"trend" dynamodbav:"trend" enum:"improving,declining,stable"`
	RecentScores      []int     `json:"recentScores" dynamodbav:"recentScores" nullable:"false" doc:"The scores of up to 10 attempts, oldest first."`
}

// Weakness is a dimension to work on.
type Weakness struct {
	Dimension Dimension `json:"dimension" dynamodbav:"dimension"`
	Score     float64   `json:"score" dynamodbav:"score" doc:"The dimension's moving average."`
	Gap       float64   `json:"gap" dynamodbav:"gap" doc:"The dimension's moving average minus the mean of all dimensions' moving averages."`
}

// Improvement is a dimension whose scores have risen.
type Improvement struct {
	Dimension   Dimension `json:"dimension" dynamodbav:"dimension"`
	Improvement float64   `json:"improvement" dynamodbav:"improvement" doc:"How much the mean of the second half of recentScores is higher than the mean of the first."`
	From        float64   `json:"from" dynamodbav:"from" doc:"The mean of the first half."`
	To          float64   `json:"to" dynamodbav:"to" doc:"The mean of the second half."`
}

// ProfileKey returns the sort key of the profile that an evaluated attempt adds, for functions that a team adds.
func ProfileKey(attempt Attempt) string {
	return attempt.Evaluation.EvaluatedAt.String() + "#" + attempt.ID
}

// Profile has the figures of a user up to and including one evaluated attempt, also on the wire. A user's profiles are
// in the order of Timestamp, and then of AttemptID.
type Profile struct {
	UserID string `json:"userId" dynamodbav:"userId"`
	// Timestamp is to the millisecond, in UTC.
	Timestamp           wire.Time             `json:"timestamp" dynamodbav:"-" format:"date-time" doc:"When the attempt was evaluated."`
	AttemptID           string                `json:"attemptId" dynamodbav:"attemptId" doc:"The attempt up to which the profile goes."`
	AttemptCount        int                   `json:"attemptCount" dynamodbav:"attemptCount" minimum:"1" doc:"All evaluated attempts up to this one."`
	OverallAverage      float64               `json:"overallAverage" dynamodbav:"overallAverage" minimum:"0" maximum:"100" doc:"The mean of recentOverallScores."`
	RecentOverallScores []int                 `json:"recentOverallScores" dynamodbav:"recentOverallScores" nullable:"false" doc:"The overall scores of up to 10 attempts, oldest first."`
	Dimensions          []DimensionStatistics `json:"dimensions" dynamodbav:"dimensions" nullable:"false"`
	Weaknesses          []Weakness            `json:"weaknesses" dynamodbav:"weaknesses" nullable:"false" doc:"Up to 3 dimensions with a moving average under 2.0, lowest first; the lowest one when none is."`
	Improvements        []Improvement         `json:"improvements" dynamodbav:"improvements" nullable:"false" doc:"The 3 largest rises at most, largest first."`
	Recommendations     []string              `json:"recommendations" dynamodbav:"recommendations" nullable:"false" doc:"What to practise: one for each weakness, in their order."`
	wire.Extended
}

// ProfileList is a page of profiles, newest first, also on the wire.
type ProfileList struct {
	Profiles  []Profile `json:"profiles" nullable:"false" doc:"Newest first."`
	NextToken string    `json:"nextToken,omitempty" doc:"Where the list goes on; absent at its end."`
}

// CheckEvaluated returns an error that says why no profile can be made from the attempt, or nil.
func (a Attempt) CheckEvaluated() error {
	e := a.Evaluation
	switch {
	case a.ID == "" || a.UserID == "":
		return errors.New("attemptId or userId: got none")
	case e == nil || e.EvaluatedAt.IsZero():
		return errors.New("evaluation.evaluatedAt: got none")
	case e.OverallScore < 0 || e.OverallScore > 100:
		return fmt.Errorf("evaluation.overallScore: got %d, want 0 to 100", e.OverallScore)
	}
	if err := e.Check(); err != nil {
		return fmt.Errorf("evaluation: %w", err)
	}
	return nil
}

// AddAttempt returns the profile of an attempt that has passed [Attempt.CheckEvaluated], followed by the later profiles
// with the attempt included. later are all of the user's profiles after the attempt, oldest first. preceding is the
// profile before it, or the zero value; it is ignored if there are later ones, because the first of them has the same
// data. The error names a profile that is not valid.
func AddAttempt(attempt Attempt, preceding Profile, later []Profile) ([]Profile, error) {
	for _, p := range slices.Concat(later, []Profile{preceding}) {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("the profile of the attempt %s: %w", p.AttemptID, err)
		}
	}
	own := Profile{UserID: attempt.UserID, AttemptID: attempt.ID,
		Timestamp: wire.At(time.Time(attempt.Evaluation.EvaluatedAt))}
	added := judged{overall: attempt.Evaluation.OverallScore}
	for _, d := range attempt.Evaluation.Dimensions {
		added.scores = append(added.scores, d.Score)
	}
	history := preceding.history()
	if len(later) > 0 {
		history = later[0].history().before()
	}
	history = history.and(added)
	profiles := []Profile{history.describe(own)}
	for _, p := range later {
		history = history.and(p.history().last())
		profiles = append(profiles, history.describe(p))
	}
	return profiles, nil
}

// check finds a stored profile that no profile can follow.
func (p Profile) check() error {
	if p.AttemptID == "" {
		return nil
	}
	if len(p.Dimensions) != len(Dimensions()) || len(p.RecentOverallScores) == 0 {
		return fmt.Errorf("got %d dimensions and %d overall scores", len(p.Dimensions), len(p.RecentOverallScores))
	}
	for _, d := range p.Dimensions {
		if len(d.RecentScores) != len(p.RecentOverallScores) {
			return fmt.Errorf("%s: got %d scores, want %d as of the others", d.Name, len(d.RecentScores),
				len(p.RecentOverallScores))
		}
	}
	return nil
}

// judged is an attempt by its scores: the overall one, and those of the dimensions in their order.
type judged struct {
	overall int
	scores  []int
}

// history are the latest attempts of a user, oldest first, and how many there are of all.
type history struct {
	count  int
	latest []judged
}

func (p Profile) history() history {
	h := history{count: p.AttemptCount}
	for at, overall := range p.RecentOverallScores {
		attempt := judged{overall: overall}
		for _, d := range p.Dimensions {
			attempt.scores = append(attempt.scores, d.RecentScores[at])
		}
		h.latest = append(h.latest, attempt)
	}
	return h
}

func (h history) last() judged { return h.latest[len(h.latest)-1] }

// before is the history before the last attempt: its latest [ProfileWindow]-1 attempts at least, or
// all that there are.
func (h history) before() history { return history{h.count - 1, h.latest[:len(h.latest)-1]} }

// and is the history after one more attempt.
func (h history) and(attempt judged) history {
	all := append(slices.Clone(h.latest), attempt)
	return history{h.count + 1, all[max(len(all)-ProfileWindow, 0):]}
}

// describe returns the profile of the history's last attempt, which p names. All comparisons are of
// whole numbers, so that equal histories have equal profiles on every machine.
func (h history) describe(p Profile) Profile {
	p.AttemptCount, p.RecentOverallScores, p.Dimensions = h.count, nil, nil
	p.Weaknesses, p.Improvements, p.Recommendations = []Weakness{}, []Improvement{}, []string{}
	for _, attempt := range h.latest {
		p.RecentOverallScores = append(p.RecentOverallScores, attempt.overall)
	}
	p.OverallAverage = mean(p.RecentOverallScores)
	n, total := len(h.latest), 0
	for i, d := range Dimensions() {
		var s []int
		for _, attempt := range h.latest {
			s = append(s, attempt.scores[i])
		}
		total += sum(s)
		p.Dimensions = append(p.Dimensions, DimensionStatistics{
			Name: d, MovingAverage: mean(s), StandardDeviation: deviation(s), Trend: trend(s), RecentScores: s,
		})
	}

	// Stable sorts keep the order of the dimensions among equal ones.
	lowest := func(a, b DimensionStatistics) int { return cmp.Compare(sum(a.RecentScores), sum(b.RecentScores)) }
	for i, d := range slices.SortedStableFunc(slices.Values(p.Dimensions), lowest) {
		own := sum(d.RecentScores)
		if i == maxWeaknesses || i > 0 && own >= 2*n {
			break
		}
		p.Weaknesses = append(p.Weaknesses, Weakness{d.Name, d.MovingAverage,
			ratio(own*len(p.Dimensions)-total, len(p.Dimensions)*n)})
		p.Recommendations = append(p.Recommendations, practice[d.Name])
	}

	// The middle attempt of an odd number is in neither half.
	half := n / 2
	rise := func(d DimensionStatistics) int { return sum(d.RecentScores[n-half:]) - sum(d.RecentScores[:half]) }
	largest := func(a, b DimensionStatistics) int { return cmp.Compare(rise(b), rise(a)) }
	for i, d := range slices.SortedStableFunc(slices.Values(p.Dimensions), largest) {
		if i == maxImprovements || rise(d) <= 0 {
			break
		}
		p.Improvements = append(p.Improvements,
			Improvement{d.Name, ratio(rise(d), half), mean(d.RecentScores[:half]), mean(d.RecentScores[n-half:])})
	}
	return p
}

func sum(scores []int) int {
	total := 0
	for _, s := range scores {
		total += s
	}
	return total
}

func mean(scores []int) float64 { return ratio(sum(scores), len(scores)) }

func ratio(a, b int) float64 { return rounded(float64(a) / float64(b)) }

// rounded has 4 decimals.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// deviation is the population standard deviation.
func deviation(scores []int) float64 {
	n, squares := len(scores), 0
	for _, s := range scores {
		squares += s * s
	}
	return rounded(math.Sqrt(float64(n*squares-sum(scores)*sum(scores))) / float64(n))
}

// trend goes by the slope of the least-squares line through the scores, per attempt: more than 0.05
// up or down. The slope is rise over run, without a rounding.
func trend(scores []int) Trend {
	n := len(scores)
	if n < 3 {
		return Stable
	}
	places, squares, products := 0, 0, 0
	for i, s := range scores {
		places += i
		squares += i * i
		products += i * s
	}
	rise, run := n*products-places*sum(scores), n*squares-places*places
	switch {
	case 20*rise > run:
		return Improving
	case 20*rise < -run:
		return Declining
	}
	return Stable
}

// practice is what to practise in each dimension.
var practice = map[Dimension]string{
	ClarityOfThought: "Begin each answer with your main point in one sentence, and define every term that a reader " +
		"could take in two ways.",
	Relevance: "Write the question above your draft, and delete each sentence that does not help to answer it.",
	Logic:     "Write an argument as numbered premises and a conclusion, and say for each step why it follows.",
	Evidence: "Name for each claim the observation, source or figure that supports it, and say how far it can be " +
		"trusted.",
	Assumptions: "List what has to be true for your conclusion to hold, and find out which of these would change it " +
		"if it were false.",
	Alternatives: "Write down two other explanations before you settle on one, and say what would tell them apart.",
	Quantitative: "Estimate the size of each quantity that matters, with the steps of the calculation and its unit, " +
		"and compare it with a base rate.",
	Humility: "Say how sure you are of each conclusion, and what new information would change your mind.",
}
