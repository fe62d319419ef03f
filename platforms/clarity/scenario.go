package clarity

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Difficulty is how hard a scenario is.
type Difficulty string

// The difficulties.
const (
	Beginner     Difficulty = "beginner"
	Intermediate Difficulty = "intermediate"
	Advanced     Difficulty = "advanced"
)

// Difficulties returns all difficulties, the easiest first.
func Difficulties() []Difficulty { return []Difficulty{Beginner, Intermediate, Advanced} }

// Scenario is a situation with questions, also on the wire.
type Scenario struct {
	ID               string     `json:"scenarioId" dynamodbav:"scenarioId" example:"city-bike-lanes" attribute:"Partition key: unique name of the scenario, such as city-bike-lanes"`
	Title            string     `json:"title" dynamodbav:"title" attribute:"Title, 5 characters or more"`
	Description      string     `json:"description" dynamodbav:"description" attribute:"The situation, 50 characters or more"`
	Difficulty       Difficulty `json:"difficulty" dynamodbav:"difficulty" enum:"beginner,intermediate,advanced" attribute:"beginner, intermediate or advanced"`
	Tags             []string   `json:"tags" dynamodbav:"tags,stringset,omitempty" nullable:"false" attribute:"Tags; absent when there is none"`
	Questions        []Question `json:"questions" dynamodbav:"questions" nullable:"false" attribute:"1 to 10 questions: questionId, text, type, targetWordCount and focusAreas of each"`
	Active           bool       `json:"active" dynamodbav:"-"` // an index key, which cannot be a Boolean
	CreatedAt        wire.Time  `json:"createdAt" dynamodbav:"createdAt" format:"date-time" attributetype:"String" attribute:"Creation: RFC 3339 in UTC with milliseconds"`
	EstimatedMinutes int        `json:"estimatedMinutes" dynamodbav:"estimatedMinutes" minimum:"1" attribute:"Expected time to complete"`
	wire.Extended
}

// The limits of a scenario: lengths of texts in characters, and numbers of tags, questions, focus areas, words and
// minutes. They keep its item far below the 400 KB that DynamoDB allows.
const (
	MaxScenarioID                  = 100
	minTitle, maxTitle             = 5, 200
	minDescription, maxDescription = 50, 5000
	maxTags, maxTag                = 10, 50
	minQuestions, maxQuestions     = 1, 10
	maxQuestionID                  = 50
	minQuestion, maxQuestion       = 10, 1000
	minFocusAreas, maxFocusAreas   = 1, 3
	minTargetWords, maxTargetWords = 1, 2000
	minMinutes, maxMinutes         = 1, 24 * 60
)

// id is the form of the ids of scenarios and questions.
var id = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Check returns a [*validate.Error] with all that is wrong with the scenario, or nil.
func (s Scenario) Check() error {
	var p validate.Problems
	checkID(&p, "scenarioId", s.ID, MaxScenarioID)
	p.Text("title", s.Title, minTitle, maxTitle)
	p.Text("description", s.Description, minDescription, maxDescription)
	validate.OneOf(&p, "difficulty", s.Difficulty, Difficulties())
	p.Count("tags", len(s.Tags), 0, maxTags)
	for i, tag := range s.Tags {
		checkOnce(&p, fmt.Sprintf("tags[%d]", i), s.Tags, i)
		p.Text(fmt.Sprintf("tags[%d]", i), tag, 1, maxTag)
	}
	p.Count("questions", len(s.Questions), minQuestions, maxQuestions)
	var ids []string
	for i, q := range s.Questions {
		field := fmt.Sprintf("questions[%d].", i)
		ids = append(ids, q.ID)
		checkOnce(&p, field+"questionId", ids, i)
		q.check(&p, field)
	}
	if s.CreatedAt.IsZero() {
		p.Add("createdAt", validate.RuleRequired, "is missing, but required")
	}
	p.Number("estimatedMinutes", s.EstimatedMinutes, minMinutes, maxMinutes)
	return p.Err()
}

func (q Question) check(p *validate.Problems, field string) {
	checkID(p, field+"questionId", q.ID, maxQuestionID)
	p.Text(field+"text", q.Text, minQuestion, maxQuestion)
	validate.OneOf(p, field+"type", q.Type, []string{"short", "long"})
	p.Number(field+"targetWordCount", q.TargetWordCount, minTargetWords, maxTargetWords)
	p.Count(field+"focusAreas", len(q.FocusAreas), minFocusAreas, maxFocusAreas)
	for i, area := range q.FocusAreas {
		checkOnce(p, fmt.Sprintf("%sfocusAreas[%d]", field, i), q.FocusAreas, i)
		validate.OneOf(p, fmt.Sprintf("%sfocusAreas[%d]", field, i), area, Dimensions())
	}
}

func checkID(p *validate.Problems, field, value string, most int) {
	if len(value) > most || !id.MatchString(value) {
		p.Add(field, validate.RulePattern, "is %s; it needs 1 to %d lower-case letters, digits and single hyphens "+
			"between them", validate.Quoted(value), most)
	}
}

// checkOnce checks that the i-th of the values is none of those before it.
func checkOnce[T ~string](p *validate.Problems, field string, values []T, i int) {
	if slices.Contains(values[:i], values[i]) {
		p.Add(field, validate.RuleUnique, "is %s again; give each once", validate.Quoted(string(values[i])))
	}
}
