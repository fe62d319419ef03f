package askahuman

import (
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/wire"
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

// badge is a badge and the rule for earning it.
type badge struct {
	id, name string
	// earned reports whether a person has earned it by an answer at now to the
	// question; stats count that answer.
	earned func(stats Stats, question Question, now time.Time) bool
}

// badges are all badges, in the order they are shown (wire contract: numbers).
func badges() []badge {
	return []badge{
		{"first_answer", "First Steps", answered(1)},
		{"answers_10", "Getting Started", answered(10)},
		{"answers_100", "Century", answered(100)},
		{"answers_500", "Veteran", answered(500)},
		{"answers_1000", "Legend", answered(1000)},
		{"streak_3", "On a Roll", streakOf(3)},
		{"streak_7", "Week Warrior", streakOf(7)},
		{"streak_30", "Monthly Maven", streakOf(30)},
		{"streak_100", "Centurion", streakOf(100)},
		{"tech_expert", "Tech Expert", answeredIn("technical")},
		{"product_pro", "Product Pro", answeredIn("product")},
		{"ethics_advocate", "Ethics Advocate", answeredIn("ethics")},
		{"creative_mind", "Creative Mind", answeredIn("creative")},
		{"generalist", "Generalist", answeredIn(defaultCategory)},
		{"early_bird", "Early Bird", func(_ Stats, question Question, now time.Time) bool {
			return now.Sub(time.Time(question.CreatedAt)) <= earlyBird
		}},
		{"night_owl", "Night Owl", func(stats Stats, _ Question, _ time.Time) bool {
			return stats.NightAnswers >= nightAnswers
		}},
		{"speed_demon", "Speed Demon", func(stats Stats, _ Question, _ time.Time) bool {
			return stats.FastAnswers >= fastAnswers
		}},
		{"confident", "Confident", func(stats Stats, _ Question, _ time.Time) bool {
			return stats.ConfidentAnswers >= confidentAnswers
		}},
	}
}

func answered(times int) func(Stats, Question, time.Time) bool {
	return func(stats Stats, _ Question, _ time.Time) bool { return stats.TotalAnswers >= times }
}

func streakOf(days int) func(Stats, Question, time.Time) bool {
	return func(stats Stats, _ Question, _ time.Time) bool { return stats.StreakDays >= days }
}

func answeredIn(category string) func(Stats, Question, time.Time) bool {
	return func(stats Stats, _ Question, _ time.Time) bool {
		return stats.AnswersByCategory[category] >= categoryAnswers
	}
}

// newBadges returns the badges that a person earns by an answer at now.
func newBadges(stats Stats, question Question, now time.Time) []Badge {
	earned := []Badge{}
	for _, b := range badges() {
		if !slices.Contains(stats.Badges, b.id) && b.earned(stats, question, now) {
			earned = append(earned, Badge{b.id, b.name, wire.Time(now)})
		}
	}
	return earned
}

// category returns the category in which an answer to the question counts: its first audience tag.
func category(question Question) string {
	if len(question.Audience) == 0 {
		return defaultCategory
	}
	return question.Audience[0]
}

func isNight(t time.Time, zone *time.Location) bool { return t.In(zone).Hour() < nightEnds }

// EarnedBadges returns the person's badges. A badge of a later version has its id as the name.
func (s Stats) EarnedBadges() []Badge {
	all := make([]Badge, len(s.Badges))
	for i, id := range s.Badges {
		all[i] = Badge{id, id, wire.Time(s.BadgesEarnedAt[id])}
		for _, b := range badges() {
			if b.id == id {
				all[i].Name = b.name
			}
		}
	}
	return all
}
