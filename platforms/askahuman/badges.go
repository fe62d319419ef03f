package askahuman

import (
	"cmp"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	defaultCategory  = "general"
	categoryAnswers  = 25               // answers in a category for its badge
	fastAnswer       = 30 * time.Second // an answer in less is fast
	earlyBird        = 2 * time.Minute  // from a question's creation
	nightEnds        = 6                // o'clock, from midnight
	nightAnswers     = 10
	fastAnswers      = 5
	confidentAnswers = 10
)

// Badge is an earned badge.
type Badge struct {
	ID       string    `json:"id" doc:"Badges are for numbers of answers and days in a row, and: 25 answers in a category (tech_expert, product_pro, ethics_advocate, creative_mind, generalist), an answer within 2 minutes of the question (early_bird), 10 answers from 00:00 to 06:00 in the person's time zone (night_owl), 5 with response_time_ms under 30000 (speed_demon), 10 with confidence 5 (confident). A badge stays once it is earned. More may come." example:"first_answer"`
	Name     string    `json:"name" example:"First Steps"`
	EarnedAt wire.Time `json:"earned_at" format:"date-time" example:"2026-02-02T09:45:00.000Z"`
}

// NextBadge is a person's progress towards a badge.
type NextBadge struct {
	ID   string `json:"id" doc:"As in badges." example:"answers_10"`
	Name string `json:"name" example:"Getting Started"`
	Have int    `json:"have" doc:"How many of the answers or days in a row that the badge needs the person has; at most need." example:"7"`
	Need int    `json:"need" doc:"How many the badge needs." example:"10"`
}

// ladder is what badges count of a person, and the badges at its steps, the lowest first.
type ladder struct {
	have func(Stats) int
	// once reports whether an answer to the question at now is the one that the only step needs. Nil: have counts.
	once  func(question Question, now time.Time) bool
	steps []step
}

// step is a badge and how many a person needs for it.
type step struct {
	need     int
	id, name string
}

// ladders have all badges, in the order they are shown (wire contract: numbers).
func ladders() []ladder {
	return []ladder{
		{have: func(s Stats) int { return s.TotalAnswers }, steps: []step{
			{1, "first_answer", "First Steps"}, {10, "answers_10", "Getting Started"}, {100, "answers_100", "Century"},
			{500, "answers_500", "Veteran"}, {1000, "answers_1000", "Legend"},
		}},
		{have: func(s Stats) int { return s.StreakDays }, steps: []step{
			{3, "streak_3", "On a Roll"}, {7, "streak_7", "Week Warrior"}, {30, "streak_30", "Monthly Maven"},
			{100, "streak_100", "Centurion"},
		}},
		answeredIn("technical", "tech_expert", "Tech Expert"),
		answeredIn("product", "product_pro", "Product Pro"),
		answeredIn("ethics", "ethics_advocate", "Ethics Advocate"),
		answeredIn("creative", "creative_mind", "Creative Mind"),
		answeredIn(defaultCategory, "generalist", "Generalist"),
		{
			have: func(Stats) int { return 0 },
			once: func(question Question, now time.Time) bool {
				return now.Sub(time.Time(question.CreatedAt)) <= earlyBird
			},
			steps: []step{{1, "early_bird", "Early Bird"}},
		},
		{have: func(s Stats) int { return s.NightAnswers }, steps: []step{{nightAnswers, "night_owl", "Night Owl"}}},
		{have: func(s Stats) int { return s.FastAnswers }, steps: []step{{fastAnswers, "speed_demon", "Speed Demon"}}},
		{have: func(s Stats) int { return s.ConfidentAnswers },
			steps: []step{{confidentAnswers, "confident", "Confident"}}},
	}
}

func answeredIn(category, id, name string) ladder {
	return ladder{have: func(s Stats) int { return s.AnswersByCategory[category] },
		steps: []step{{categoryAnswers, id, name}}}
}

// newBadges returns the badges that a person earns by an answer at now to the question; stats count that answer.
func newBadges(stats Stats, question Question, now time.Time) []Badge {
	earned := []Badge{}
	for _, l := range ladders() {
		once := l.once != nil && l.once(question, now)
		for _, s := range l.steps {
			if (once || l.have(stats) >= s.need) && !slices.Contains(stats.Badges, s.id) {
				earned = append(earned, Badge{s.id, s.name, wire.Time(now)})
			}
		}
	}
	return earned
}

// NextBadges returns up to n badges that a person with these stats can earn next, the nearest first. Badges with
// progress precede those without; then those precede of which less is left. Of badges that count the same thing only
// the lowest is returned. A streak is taken from stats, though it may have ended since ([Stats.StreakAsOf]).
func NextBadges(stats Stats, n int) []NextBadge {
	next := []NextBadge{}
	for _, l := range ladders() {
		if i := slices.IndexFunc(l.steps, func(s step) bool { return !slices.Contains(stats.Badges, s.id) }); i >= 0 {
			s := l.steps[i]
			next = append(next, NextBadge{s.id, s.name, min(l.have(stats), s.need), s.need})
		}
	}
	slices.SortStableFunc(next, func(a, b NextBadge) int {
		return cmp.Or(cmp.Compare(min(b.Have, 1), min(a.Have, 1)), cmp.Compare(a.Need-a.Have, b.Need-b.Have))
	})
	return next[:min(n, len(next))]
}

// category returns the category in which an answer to the question counts: its first audience tag.
func category(question Question) string {
	if len(question.Audience) == 0 {
		return defaultCategory
	}
	return question.Audience[0]
}

func isNight(t time.Time, zone *time.Location) bool { return t.In(zone).Hour() < nightEnds }

// EarnedBadges returns the person's badges. A badge that this version does not know has its id as its name.
func (s Stats) EarnedBadges() []Badge {
	names := map[string]string{}
	for _, l := range ladders() {
		for _, step := range l.steps {
			names[step.id] = step.name
		}
	}
	all := make([]Badge, len(s.Badges))
	for i, id := range s.Badges {
		all[i] = Badge{id, cmp.Or(names[id], id), wire.Time(s.BadgesEarnedAt[id])}
	}
	return all
}
