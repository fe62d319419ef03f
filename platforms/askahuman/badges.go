package askahuman

import (
	"slices"
	"time"
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
func newBadges(stats Stats, question Question, now time.Time) []EarnedBadge {
	var earned []EarnedBadge
	for _, b := range badges() {
		has := slices.ContainsFunc(stats.Badges, func(e EarnedBadge) bool { return e.ID == b.id })
		if !has && b.earned(stats, question, now) {
			earned = append(earned, EarnedBadge{ID: b.id, EarnedAt: now})
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

// Name is what people call the badge; a badge of a later version has its id as the name.
func (e EarnedBadge) Name() string {
	for _, b := range badges() {
		if b.id == e.ID {
			return b.name
		}
	}
	return e.ID
}
