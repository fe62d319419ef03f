package askahuman

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// noon is an ordinary Wednesday.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func zoneOf(t testing.TB, name string) *time.Location {
	t.Helper()
	return must.Get(time.LoadLocation(name))(t)
}

// unless is a value, or nil for the one that stands for none.
func unless[T comparable](none, value T) *T {
	if value == none {
		return nil
	}
	return &value
}

func TestPointsFor(t *testing.T) {
	t.Parallel()
	text, choice := Question{Type: TypeText, RequiredResponses: 4, CurrentResponses: 2},
		Question{Type: TypeMultipleChoice, RequiredResponses: 4, CurrentResponses: 2}
	with := func(q Question, current, required int) Question {
		q.CurrentResponses, q.RequiredResponses = current, required
		return q
	}
	for name, test := range map[string]struct {
		question   Question
		length     int
		confidence int
		notified   time.Duration // before the answer; 0: never
		want       int
	}{
		"text":                               {question: text, length: 20, want: 10},
		"multiple choice":                    {question: choice, want: 5},
		"confidence":                         {question: choice, confidence: 1, want: 7},
		"text of 100 characters":             {question: text, length: 100, want: 10},
		"text of 101 characters":             {question: text, length: 101, want: 15},
		"length does not count for a choice": {question: choice, length: 500, want: 5},
		"notified just now":                  {question: text, notified: time.Millisecond, want: 13},
		"notified 5 minutes ago":             {question: text, notified: 5 * time.Minute, want: 13},
		"notified a moment over 5 minutes":   {question: text, notified: 5*time.Minute + time.Millisecond, want: 10},
		"notified later than the answer":     {question: text, notified: -time.Second, want: 10},
		"no answer yet":                      {question: with(text, 0, 1), want: 15},
		"one of two is not under half":       {question: with(text, 1, 2), want: 10},
		"one of three is under half":         {question: with(text, 1, 3), want: 15},
		"two of five is under half":          {question: with(text, 2, 5), want: 15},
		"three of five is not":               {question: with(text, 3, 5), want: 10},
		"all of them": {question: with(text, 0, 5), length: 101, confidence: 5,
			notified: time.Minute, want: 25},
		"all of them on a multiple choice": {question: with(choice, 0, 5), confidence: 5, notified: time.Minute,
			want: 15},
		"required one, already given":         {question: with(text, 1, 1), want: 10},
		"an unknown type is paid as a choice": {question: Question{RequiredResponses: 1, CurrentResponses: 1}, want: 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := Response{ContentLength: test.length, Confidence: unless(0, test.confidence), CreatedAt: noon}
			var notifiedAt time.Time
			if test.notified != 0 {
				notifiedAt = noon.Add(-test.notified)
			}
			if got := DefaultRules().pointsFor(test.question, response, notifiedAt); got != test.want {
				t.Errorf("points = %d, want %d", got, test.want)
			}
		})
	}
}

// awardAt gives a person the points of one plain text answer (10).
func awardAt(stats Stats, at time.Time, zone *time.Location) (int, Stats, []Badge) {
	question := Question{Type: TypeText, RequiredResponses: 2, CurrentResponses: 1,
		CreatedAt: wire.Time(at.Add(-time.Hour)),
		Audience:  []string{"product", "ethics"}}
	return DefaultRules().Award(stats, question, Response{CreatedAt: at}, time.Time{}, zone)
}

// A person has no lists that are null in the table, even without badges.
func TestAwardHasLists(t *testing.T) {
	t.Parallel()
	_, after, _ := awardAt(Stats{Badges: nil, TotalAnswers: 1}, noon, time.UTC)
	if after.Badges == nil || after.BadgesEarnedAt == nil || after.AnswersByCategory == nil {
		t.Errorf("got %+v", after)
	}
}

func TestAwardLimitsTheDay(t *testing.T) {
	t.Parallel()
	stats := Stats{PersonHash: "p"}
	total := 0
	for i := range 60 {
		points, after, _ := awardAt(stats, noon.Add(time.Duration(i)*time.Second), time.UTC)
		want := 10
		if i >= 50 {
			want = 0
		}
		if points != want {
			t.Fatalf("answer %d earned %d, want %d", i, points, want)
		}
		total += points
		stats = after
	}
	if stats.TotalPoints != 500 || stats.DailyPoints != 500 || stats.WeeklyPoints != 500 || total != 500 {
		t.Errorf("points = %d total, %d daily, %d weekly; want 500", stats.TotalPoints, stats.DailyPoints,
			stats.WeeklyPoints)
	}
	if stats.TotalAnswers != 60 || stats.DailyAnswers != 60 || stats.AnswersByCategory["product"] != 60 {
		t.Errorf("answers beyond the limit do not count: %+v", stats)
	}
	if has(stats, "answers_10") == false || has(stats, "product_pro") == false {
		t.Errorf("badges = %v", stats.Badges)
	}

	points, after, _ := awardAt(stats, noon.Add(12*time.Hour), time.UTC)
	if points != 10 || after.DailyPoints != 10 || after.DailyAnswers != 1 || after.WeeklyPoints != 510 ||
		after.Day != "2026-03-05" {
		t.Errorf("the next UTC day: earned %d, %+v", points, after)
	}
	if after.StreakDays != 2 {
		t.Errorf("streak = %d, want 2", after.StreakDays)
	}
}

func has(stats Stats, id string) bool {
	return slices.Contains(stats.Badges, id)
}

func TestAwardCutsAStreakBonusToTheDay(t *testing.T) {
	t.Parallel()
	stats := Stats{StreakDays: 99, StreakLastDate: "2026-03-03", UpdatedAt: noon.Add(-24 * time.Hour),
		Day: "2026-03-04", DailyPoints: 30}
	points, after, badges := awardAt(stats, noon, time.UTC)
	if points != 470 || after.DailyPoints != 500 {
		t.Errorf("earned %d, daily %d; want 470 and 500", points, after.DailyPoints)
	}
	if after.StreakDays != 100 || !slices.ContainsFunc(badges, func(b Badge) bool {
		return b.ID == "streak_100"
	}) {
		t.Errorf("streak %d, badges %v", after.StreakDays, badges)
	}
}

func TestAwardOnABackwardClock(t *testing.T) {
	t.Parallel()
	stats := Stats{Day: "2026-03-05", DailyPoints: 495, Week: "2026-03-09", WeeklyPoints: 495}
	points, after, _ := awardAt(stats, noon, time.UTC)
	if points != 5 || after.Day != "2026-03-05" || after.Week != "2026-03-09" || after.WeeklyPoints != 500 {
		t.Errorf("earned %d, %+v; want 5, in the same day and week", points, after)
	}
}

func TestAwardNeverChangesItsInput(t *testing.T) {
	t.Parallel()
	stats := Stats{Badges: make([]string, 1, 10), BadgesEarnedAt: map[string]time.Time{},
		AnswersByCategory: map[string]int{"product": 1}}
	awardAt(stats, noon, time.UTC)
	if stats.AnswersByCategory["product"] != 1 || stats.Badges[:2][1] != "" ||
		len(stats.BadgesEarnedAt) > 0 {
		t.Errorf("the stats that were read have changed: %+v", stats)
	}
}

func TestAwardProperties(t *testing.T) {
	t.Parallel()
	zones := []*time.Location{zoneOf(t, "Pacific/Kiritimati"), zoneOf(t, "Etc/GMT+12"), time.UTC,
		zoneOf(t, "America/New_York"), zoneOf(t, "Asia/Kathmandu"), zoneOf(t, "Australia/Lord_Howe")}
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		stats := Stats{}
		sum, byDay := 0, map[string]int{}
		for range rapid.IntRange(1, 60).Draw(t, "answers") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(40*time.Hour)).Draw(t, "gap")))
			question := Question{
				Type:              rapid.SampledFrom([]QuestionType{TypeText, TypeMultipleChoice}).Draw(t, "type"),
				RequiredResponses: 50, CurrentResponses: rapid.IntRange(0, 49).Draw(t, "current"),
				CreatedAt: wire.Time(now.Add(-time.Hour)),
			}
			response := Response{
				CreatedAt:      now,
				ContentLength:  rapid.IntRange(1, 200).Draw(t, "length"),
				Confidence:     unless(0, rapid.IntRange(0, 5).Draw(t, "confidence")),
				ResponseTimeMS: unless(-1, rapid.Int64Range(-1, 60_000).Draw(t, "took")),
			}
			zone := rapid.SampledFrom(zones).Draw(t, "zone")
			points, after, earned := DefaultRules().Award(stats, question, response, now.Add(-time.Minute), zone)
			if points < 0 || points > 500 {
				t.Fatalf("earned %d", points)
			}
			sum += points
			byDay[Day(now)] += points
			if after.TotalPoints != sum || after.DailyPoints != byDay[Day(now)] || byDay[Day(now)] > 500 {
				t.Fatalf("total %d, daily %d; want %d and %d, at most %d", after.TotalPoints, after.DailyPoints, sum,
					byDay[Day(now)], 500)
			}
			if after.WeeklyPoints < after.DailyPoints && Week(now) == Week(now.Truncate(24*time.Hour)) {
				t.Fatalf("weekly %d under daily %d", after.WeeklyPoints, after.DailyPoints)
			}
			if after.TotalAnswers != stats.TotalAnswers+1 || len(after.Badges) != len(stats.Badges)+len(earned) {
				t.Fatalf("answers %d, badges %d", after.TotalAnswers, len(after.Badges))
			}
			ids := map[string]bool{}
			for _, b := range after.Badges {
				if ids[b] {
					t.Fatalf("badge %s twice", b)
				}
				ids[b] = true
			}
			// One answer earns only what was next, and lacked one answer or day at most.
			for _, b := range earned {
				if !slices.ContainsFunc(NextBadges(stats, 100), func(next NextBadge) bool {
					return next.ID == b.ID && next.Name == b.Name && next.Have+1 >= next.Need
				}) {
					t.Fatalf("%s was earned, and was not next: %+v", b.ID, NextBadges(stats, 100))
				}
			}
			for i, next := range NextBadges(after, 100) {
				if ids[next.ID] || next.Have < 0 || next.Have >= next.Need {
					t.Fatalf("the next badge %d is %+v; earned are %v", i, next, after.Badges)
				}
			}
			if after.StreakLastDate < stats.StreakLastDate || after.StreakDays < 1 {
				t.Fatalf("streak went from %d on %s to %d on %s", stats.StreakDays, stats.StreakLastDate,
					after.StreakDays, after.StreakLastDate)
			}
			stats = after
		}
	})
}

func TestStreak(t *testing.T) {
	t.Parallel()
	type answer struct {
		at, zone string
		want     int
	}
	for name, answers := range map[string][]answer{
		"one a day": {{"2026-03-04T12:00Z", "UTC", 1}, {"2026-03-05T00:00Z", "UTC", 2},
			{"2026-03-06T23:59Z", "UTC", 3}},
		"two on one day": {{"2026-03-04T00:00Z", "UTC", 1}, {"2026-03-04T23:59Z", "UTC", 1},
			{"2026-03-05T00:00Z", "UTC", 2}},
		"a day left out": {{"2026-03-04T12:00Z", "UTC", 1}, {"2026-03-05T12:00Z", "UTC", 2},
			{"2026-03-07T12:00Z", "UTC", 1}},
		"month and leap day": {{"2028-02-28T12:00Z", "UTC", 1}, {"2028-02-29T12:00Z", "UTC", 2},
			{"2028-03-01T12:00Z", "UTC", 3}},
		"year": {{"2026-12-31T12:00Z", "UTC", 1}, {"2027-01-01T12:00Z", "UTC", 2}},
		"the person's day": {{"2026-03-04T23:30Z", "Asia/Tokyo", 1}, {"2026-03-05T14:59Z", "Asia/Tokyo", 1},
			{"2026-03-05T15:00Z", "Asia/Tokyo", 2}},
		"a day of 23 hours": {{"2026-03-08T05:00Z", "America/New_York", 1},
			{"2026-03-09T03:59Z", "America/New_York", 1}, {"2026-03-09T04:00Z", "America/New_York", 2}},
		"a day of 25 hours": {{"2026-11-01T04:00Z", "America/New_York", 1},
			{"2026-11-02T04:59Z", "America/New_York", 1}, {"2026-11-02T05:00Z", "America/New_York", 2}},
		"zones of one moment": {{"2026-03-04T11:00Z", "Etc/GMT+12", 1}, {"2026-03-04T11:00Z", "UTC", 1},
			{"2026-03-04T11:01Z", "Pacific/Kiritimati", 1}},
		"a minute apart, over midnight in one of the zones": {
			{"2026-03-04T11:59Z", "Etc/GMT+12", 1}, {"2026-03-04T12:01Z", "Etc/GMT+12", 2},
			{"2026-03-04T12:02Z", "Pacific/Kiritimati", 2}, {"2026-03-04T13:00Z", "Etc/GMT+11", 2},
		},
		"flying east over the date line": {{"2026-03-04T20:00Z", "America/Los_Angeles", 1},
			{"2026-03-05T16:00Z", "Asia/Tokyo", 2}},
		"flying west over the date line": {{"2026-03-04T16:00Z", "Asia/Tokyo", 1},
			{"2026-03-05T20:00Z", "America/Los_Angeles", 1}, {"2026-03-06T20:00Z", "America/Los_Angeles", 2}},
		"a clock that goes back": {{"2026-03-05T12:00Z", "UTC", 1}, {"2026-03-04T12:00Z", "UTC", 1},
			{"2026-03-06T12:00Z", "UTC", 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stats Stats
			for i, a := range answers {
				at := must.Get(time.Parse("2006-01-02T15:04Z", a.at))(t)
				zone := zoneOf(t, a.zone)
				_, stats, _ = awardAt(stats, at, zone)
				if stats.StreakDays != a.want {
					t.Fatalf("answer %d at %s in %s: streak = %d, want %d", i, a.at, a.zone, stats.StreakDays, a.want)
				}
				if got := stats.StreakAsOf(at, zone); got != a.want {
					t.Fatalf("answer %d at %s in %s: streak as of then = %d, want %d", i, a.at, a.zone, got, a.want)
				}
			}
		})
	}
}

// TestStreakCannotBeFarmed lets someone choose moments and zones as they like: a
// streak never has more days than calendar days have begun anywhere.
func TestStreakCannotBeFarmed(t *testing.T) {
	t.Parallel()
	var zones []*time.Location
	for offset := -12; offset <= 14; offset++ {
		zones = append(zones, time.FixedZone(fmt.Sprint(offset), offset*3600))
	}
	rapid.Check(t, func(t *rapid.T) {
		var stats Stats
		now := noon
		counted := 0
		for range rapid.IntRange(1, 80).Draw(t, "answers") {
			now = now.Add(time.Duration(rapid.IntRange(0, 8*60).Draw(t, "minutes")) * time.Minute)
			before := stats
			_, stats, _ = awardAt(stats, now, rapid.SampledFrom(zones).Draw(t, "zone"))
			if stats.StreakLastDate != before.StreakLastDate {
				counted++
			}
		}
		// A day begins somewhere up to 26 hours before it has begun everywhere.
		most := 1 + int((now.Sub(noon)+26*time.Hour)/(24*time.Hour))
		if counted > most || stats.StreakDays > most {
			t.Fatalf("%d days counted, a streak of %d, in %v", counted, stats.StreakDays, now.Sub(noon))
		}
	})
}

func TestStreakAsOf(t *testing.T) {
	t.Parallel()
	stats := Stats{StreakDays: 5, StreakLastDate: "2026-03-04", UpdatedAt: noon}
	for at, want := range map[time.Time]int{
		noon:                     5,
		noon.Add(24 * time.Hour): 5,
		time.Date(2026, 3, 5, 23, 59, 0, 0, time.UTC): 5,
		time.Date(2026, 3, 6, 0, 0, 0, 0, time.UTC):   0,
		noon.Add(1000 * time.Hour):                    0,
	} {
		if got := stats.StreakAsOf(at, time.UTC); got != want {
			t.Errorf("as of %v: %d, want %d", at, got, want)
		}
	}
	if got := (Stats{}).StreakAsOf(noon, time.UTC); got != 0 {
		t.Errorf("of a person who never answered: %d", got)
	}
}

func TestStreakBonus(t *testing.T) {
	t.Parallel()
	want := map[int]int{3: 10, 7: 25, 30: 100, 100: 500}
	for days := range 400 {
		if got := DefaultRules().streakBonus(days); got != want[days] {
			t.Errorf("streakBonus(%d) = %d, want %d", days, got, want[days])
		}
	}
}

func TestEarnedBadges(t *testing.T) {
	t.Parallel()
	got := Stats{Badges: []string{"answers_100", "of_a_later_version"},
		BadgesEarnedAt: map[string]time.Time{"answers_100": noon}}.EarnedBadges()
	want := []Badge{{"answers_100", "Century", wire.Time(noon)},
		{"of_a_later_version", "of_a_later_version", wire.Time{}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if (Stats{}).EarnedBadges() == nil {
		t.Error("no badges are nil, want an empty list")
	}
}

func TestBadges(t *testing.T) {
	t.Parallel()
	old := Question{CreatedAt: wire.Time(noon.Add(-time.Hour))}
	tests := map[string]struct {
		name            string
		before, reached Stats
	}{
		"first_answer":    {"First Steps", Stats{}, Stats{TotalAnswers: 1}},
		"answers_10":      {"Getting Started", Stats{TotalAnswers: 9}, Stats{TotalAnswers: 10}},
		"answers_100":     {"Century", Stats{TotalAnswers: 99}, Stats{TotalAnswers: 100}},
		"answers_500":     {"Veteran", Stats{TotalAnswers: 499}, Stats{TotalAnswers: 500}},
		"answers_1000":    {"Legend", Stats{TotalAnswers: 999}, Stats{TotalAnswers: 1000}},
		"streak_3":        {"On a Roll", Stats{StreakDays: 2}, Stats{StreakDays: 3}},
		"streak_7":        {"Week Warrior", Stats{StreakDays: 6}, Stats{StreakDays: 7}},
		"streak_30":       {"Monthly Maven", Stats{StreakDays: 29}, Stats{StreakDays: 30}},
		"streak_100":      {"Centurion", Stats{StreakDays: 99}, Stats{StreakDays: 100}},
		"tech_expert":     {"Tech Expert", inCategory("technical", 24), inCategory("technical", 25)},
		"product_pro":     {"Product Pro", inCategory("product", 24), inCategory("product", 25)},
		"ethics_advocate": {"Ethics Advocate", inCategory("ethics", 24), inCategory("ethics", 25)},
		"creative_mind":   {"Creative Mind", inCategory("creative", 24), inCategory("creative", 25)},
		"generalist":      {"Generalist", inCategory("general", 24), inCategory("general", 25)},
		"night_owl":       {"Night Owl", Stats{NightAnswers: 9}, Stats{NightAnswers: 10}},
		"speed_demon":     {"Speed Demon", Stats{FastAnswers: 4}, Stats{FastAnswers: 5}},
		"confident":       {"Confident", Stats{ConfidentAnswers: 9}, Stats{ConfidentAnswers: 10}},
	}
	for id, test := range tests {
		earns := func(stats Stats) bool {
			return slices.Contains(newBadges(stats, old, noon), Badge{id, test.name, wire.Time(noon)})
		}
		again := test.reached
		again.Badges = []string{id}
		if earns(test.before) || !earns(test.reached) || earns(again) {
			t.Errorf("%s: earned %v before, %v when reached, %v again; want it once, when reached", id,
				earns(test.before), earns(test.reached), earns(again))
		}
	}
	// The points for being early follow from the question.
	for after, want := range map[time.Duration]bool{0: true, 2 * time.Minute: true,
		2*time.Minute + time.Millisecond: false} {
		earned := newBadges(Stats{}, Question{CreatedAt: wire.Time(noon.Add(-after))}, noon)
		if got := slices.Contains(earned, Badge{"early_bird", "Early Bird", wire.Time(noon)}); got != want {
			t.Errorf("%v after creation: earned %v, want %v", after, got, want)
		}
	}
	known := 0
	for _, l := range ladders() {
		for _, s := range l.steps {
			if known++; s.id != "early_bird" && tests[s.id].name != s.name ||
				s.id == "early_bird" && s.name != "Early Bird" {
				t.Errorf("badge %s is called %q", s.id, s.name)
			}
		}
	}
	if known != len(tests)+1 {
		t.Errorf("%d badges, want %d", known, len(tests)+1)
	}
}

func TestNextBadges(t *testing.T) {
	t.Parallel()
	all := func(ids ...string) Stats { return Stats{TotalAnswers: 2000, StreakDays: 200, Badges: ids} }
	for name, test := range map[string]struct {
		stats Stats
		n     int
		want  []NextBadge
	}{
		"Nobody": {Stats{}, 3, []NextBadge{{"first_answer", "First Steps", 0, 1}, {"early_bird", "Early Bird", 0, 1},
			{"streak_3", "On a Roll", 0, 3}}},
		// What has begun comes first, also when more is left of it.
		"Begun": {Stats{TotalAnswers: 3, StreakDays: 1, AnswersByCategory: map[string]int{"ethics": 3},
			Badges: []string{"first_answer"}}, 3, []NextBadge{{"streak_3", "On a Roll", 1, 3},
			{"answers_10", "Getting Started", 3, 10}, {"ethics_advocate", "Ethics Advocate", 3, 25}}},
		"Nearest": {Stats{TotalAnswers: 99, StreakDays: 4, FastAnswers: 3,
			Badges: []string{"first_answer", "answers_10", "streak_3"}}, 3, []NextBadge{
			{"answers_100", "Century", 99, 100}, {"speed_demon", "Speed Demon", 3, 5},
			{"streak_7", "Week Warrior", 4, 7}}},
		// A badge is earned by an answer alone: until then it has all that it needs.
		"NewBadge": {Stats{NightAnswers: 12}, 1, []NextBadge{{"night_owl", "Night Owl", 10, 10}}},
		"Last": {all("first_answer", "answers_10", "answers_100", "answers_500", "answers_1000", "streak_3", "streak_7",
			"streak_30", "streak_100", "tech_expert", "product_pro", "ethics_advocate", "creative_mind", "generalist",
			"early_bird", "night_owl", "speed_demon"), 3, []NextBadge{{"confident", "Confident", 0, 10}}},
		"None": {Stats{}, 0, []NextBadge{}},
	} {
		if diff := cmp.Diff(test.want, NextBadges(test.stats, test.n)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func inCategory(category string, answers int) Stats {
	return Stats{AnswersByCategory: map[string]int{category: answers}}
}

func TestAwardCounts(t *testing.T) {
	t.Parallel()
	tokyo := zoneOf(t, "Asia/Tokyo")
	for name, test := range map[string]struct {
		at                     string
		zone                   *time.Location
		confidence             int
		took                   int64
		night, fast, confident int
	}{
		"midnight":                   {at: "00:00", zone: time.UTC, took: -1, night: 1},
		"just before six":            {at: "05:59", zone: time.UTC, took: -1, night: 1},
		"six":                        {at: "06:00", zone: time.UTC, took: -1},
		"night in the person's zone": {at: "15:00", zone: tokyo, took: -1, night: 1},
		"night only in UTC":          {at: "05:00", zone: tokyo, took: -1},
		"just under 30 seconds":      {at: "12:00", zone: time.UTC, took: 29_999, fast: 1},
		"30 seconds":                 {at: "12:00", zone: time.UTC, took: 30_000},
		"no time at all":             {at: "12:00", zone: time.UTC, took: 0, fast: 1},
		"confidence 5":               {at: "12:00", zone: time.UTC, took: -1, confidence: 5, confident: 1},
		"confidence 4":               {at: "12:00", zone: time.UTC, took: -1, confidence: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := must.Get(time.Parse("2006-01-02 15:04", "2026-03-04 "+test.at))(t)
			_, after, _ := DefaultRules().Award(Stats{}, Question{RequiredResponses: 1},
				Response{CreatedAt: at, Confidence: unless(0, test.confidence),
					ResponseTimeMS: unless(-1, test.took)}, time.Time{}, test.zone)
			if after.NightAnswers != test.night || after.FastAnswers != test.fast ||
				after.ConfidentAnswers != test.confident {
				t.Errorf("night %d, fast %d, confident %d; want %d, %d, %d", after.NightAnswers, after.FastAnswers,
					after.ConfidentAnswers, test.night, test.fast, test.confident)
			}
			if after.AnswersByCategory["general"] != 1 {
				t.Errorf("a question without an audience counts as %v, want general", after.AnswersByCategory)
			}
		})
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	texts := func(lengths ...int) []Response {
		var recent []Response
		for i, length := range lengths {
			answer := Response{ContentDigest: fmt.Sprint(i), ContentLength: length}
			if length < 0 {
				answer = Response{} // multiple choice
			}
			recent = append(recent, answer)
		}
		return recent
	}
	for name, test := range map[string]struct {
		text   string // empty: multiple choice
		took   int64
		recent []Response
		want   []string
	}{
		"nothing":        {text: "a thoughtful answer", took: 20_000},
		"time not given": {text: "a thoughtful answer", took: -1},
		"text under 5 s": {text: "a thoughtful answer", took: 4999,
			want: []string{FlagSuspiciousTiming}},
		"text of 5 s":      {text: "a thoughtful answer", took: 5000},
		"choice under 2 s": {took: 1999, want: []string{FlagSuspiciousTiming}},
		"choice of 2 s":    {took: 2000},
		"same text": {text: "The SAME\n  text", took: -1,
			recent: []Response{{ContentDigest: contentDigest("the same text "), ContentLength: 13}},
			want:   []string{FlagDuplicateContent}},
		"same text, decomposed": {text: "CAFE\u0301", took: -1,
			recent: []Response{{ContentDigest: contentDigest("caf\u00e9"), ContentLength: 4}},
			want:   []string{FlagDuplicateContent}},
		"another text": {text: "the same text!", took: -1,
			recent: []Response{{ContentDigest: contentDigest("the same text"), ContentLength: 13}}},
		"choices are not the same text": {took: -1, recent: texts(-1, -1)},
		"fifth minimal text": {text: "yes", took: -1, recent: texts(1, 10, 2, 10),
			want: []string{FlagPatternMatch}},
		"blanks around do not count": {text: " \n0123456789\t ", took: -1, recent: texts(1, 10, 2, 10),
			want: []string{FlagPatternMatch}},
		"fourth minimal text":     {text: "yes", took: -1, recent: texts(1, 10, 2)},
		"a longer one among them": {text: "yes", took: -1, recent: texts(1, 10, 11, 2, 3, 4)},
		"a longer one long ago": {text: "yes", took: -1, recent: texts(1, 10, 2, 3, 5000),
			want: []string{FlagPatternMatch}},
		"choices in between": {text: "yes", took: -1, recent: texts(-1, 1, -1, 10, 2, -1, 3),
			want: []string{FlagPatternMatch}},
		"this one is longer": {text: "eleven char", took: -1, recent: texts(1, 2, 3, 4, 5)},
		"all flags": {text: "ok", took: 100, recent: append(texts(1, 2, 3),
			Response{ContentDigest: contentDigest("OK"), ContentLength: 2}),
			want: []string{FlagSuspiciousTiming, FlagDuplicateContent, FlagPatternMatch}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := Answer{Text: unless("", test.text), ResponseTimeMS: unless(-1, test.took)}
			response := answer.ResponseTo(Question{}, "", noon)
			if diff := cmp.Diff(test.want, FlagsFor(response, test.recent)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDayAndWeek(t *testing.T) {
	t.Parallel()
	for at, want := range map[string][2]string{
		"2026-03-04T12:00:00Z":      {"2026-03-04", "2026-03-02"},
		"2026-03-02T00:00:00Z":      {"2026-03-02", "2026-03-02"},
		"2026-03-01T23:59:59Z":      {"2026-03-01", "2026-02-23"},
		"2027-01-01T00:00:00Z":      {"2027-01-01", "2026-12-28"},
		"2026-03-02T01:00:00+14:00": {"2026-03-01", "2026-02-23"},
	} {
		moment := must.Get(time.Parse(time.RFC3339, at))(t)
		got := [2]string{PeriodDaily.Day(moment), PeriodWeekly.Day(moment)}
		if got != want || PeriodAllTime.Day(moment) != "" {
			t.Errorf("%s: %v, want %v", at, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		moment := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "moment"), 0)
		monday, err := time.Parse(time.DateOnly, Week(moment))
		if err != nil || monday.Weekday() != time.Monday {
			t.Fatalf("the week of %v begins on %v (%v)", moment, monday, err)
		}
		if since := moment.Sub(monday); since < 0 || since >= 7*24*time.Hour {
			t.Fatalf("the week of %v begins at %v", moment, monday)
		}
	})
}

func TestIDs(t *testing.T) {
	t.Parallel()
	a, b := uuid.NewString(), uuid.NewString()
	if !wire.IsID(a) || !wire.IsID(ResponseID(a, "p")) || a == b {
		t.Errorf("ids %s and %s, response %s", a, b, ResponseID(a, "p"))
	}
	first := ResponseID(a, "p")
	if first != ResponseID(a, "p") || first == ResponseID(a, "q") || first == ResponseID(b, "p") {
		t.Error("the response id is not one per question and person")
	}
	for _, id := range []string{"", "1", strings.ToUpper(a), "{" + a + "}", "urn:uuid:" + a,
		strings.ReplaceAll(a, "-", ""), a + " ", a[:35] + "g", "\x00", strings.Repeat("a", 10_000)} {
		if wire.IsID(id) {
			t.Errorf("%q is taken for an id", id)
		}
	}
}

// A team chooses the points that answers earn; zero is allowed.
func TestRewards(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)
	points := map[string]int{
		PointsText: 100, PointsMultipleChoice: 50, PointsConfidence: 0, PointsLongText: 7, PointsNotified: 30,
		PointsEarly:   1000,
		PointsStreak3: 10000,
	}
	rewards := Rules{Points: points, DailyPoints: 11000}
	text := Response{ContentLength: 101, Confidence: new(5), CreatedAt: at}
	if got := rewards.pointsFor(Question{Type: TypeText, RequiredResponses: 5}, text, at); got != 1137 {
		t.Errorf("a text earns %d; want 1137", got)
	}
	if got := rewards.pointsFor(Question{Type: TypeMultipleChoice, RequiredResponses: 1, CurrentResponses: 1},
		Response{CreatedAt: at}, time.Time{}); got != 50 {
		t.Errorf("a choice earns %d; want 50", got)
	}
	stats := Stats{StreakDays: 2, StreakLastDate: "2026-02-01", UpdatedAt: at.AddDate(0, 0, -1), Day: "2026-02-02",
		DailyPoints: 500}
	earned, after, _ := rewards.Award(stats, Question{Type: TypeText, RequiredResponses: 5}, text, at, time.UTC)
	if earned != 10500 || after.DailyPoints != 11000 || after.StreakDays != 3 {
		t.Errorf("earned %d, %d on the day; want 10500 and 11000", earned, after.DailyPoints)
	}
}

// A late answer earns points for a minute after the question was closed or had its deadline. The question must have
// been handed to the person before the request that ended it was done.
func TestRewardedLate(t *testing.T) {
	t.Parallel()
	const never = -1
	for _, test := range []struct {
		closed, handed, now time.Duration // after noon, an hour before the deadline; never
		want                bool
	}{
		{closed: never, now: time.Hour + time.Minute, want: true},
		{closed: never, now: time.Hour + time.Minute + time.Millisecond},
		{closed: time.Minute, now: time.Minute, want: true},
		{closed: time.Minute, now: 2 * time.Minute, want: true},
		{closed: time.Minute, now: 2*time.Minute + time.Millisecond},
		{closed: time.Minute, handed: time.Minute, now: time.Minute, want: true},
		{closed: time.Minute, handed: 70*time.Second - time.Millisecond, now: 2 * time.Minute, want: true},
		{closed: time.Minute, handed: 70 * time.Second, now: 2 * time.Minute},
		{closed: time.Minute, handed: never, now: time.Minute},
	} {
		question, answer := Question{Deadline: wire.Time(noon.Add(time.Hour))}, Answer{HandedAt: noon.Add(test.handed)}
		if test.closed != never {
			question.ClosedAt = wire.Time(noon.Add(test.closed))
		}
		if test.handed == never {
			answer.HandedAt = time.Time{}
		}
		if got := answer.RewardedLate(question, noon.Add(test.now)); got != test.want {
			t.Errorf("%+v: got %t", test, got)
		}
	}
}

// A late answer is marked for ten minutes, and leaves what tells days apart as it was. Who has none before begins
// with it.
func TestAwardLate(t *testing.T) {
	t.Parallel()
	before := Stats{Late: map[string]time.Time{"recent": noon.Add(time.Millisecond - keepLate),
		"old": noon.Add(-keepLate)}, CreatedAt: noon.Add(-time.Hour), UpdatedAt: noon.Add(-time.Hour)}
	question := Question{ID: "now", Type: TypeMultipleChoice, RequiredResponses: 1, CurrentResponses: 1}
	points, after := DefaultRules().AwardLate(before, question, Response{CreatedAt: noon}, time.Time{})
	want := Stats{TotalPoints: 5, Day: Day(noon), DailyPoints: 5, Week: Week(noon), WeeklyPoints: 5,
		Late:      map[string]time.Time{"recent": before.Late["recent"], "now": noon},
		CreatedAt: before.CreatedAt, UpdatedAt: before.UpdatedAt}
	if diff := cmp.Diff(want, after); diff != "" || points != 5 || len(before.Late) != 2 {
		t.Errorf("got %d points (-want +got):\n%s", points, diff)
	}
	if _, after, _ := DefaultRules().Award(before, question, Response{CreatedAt: noon}, time.Time{},
		time.UTC); len(after.Late) != 1 || len(before.Late) != 2 {
		t.Errorf("an answer in time leaves the late ones %v, of %v", after.Late, before.Late)
	}
	rules := DefaultRules()
	rules.DailyPoints = 7
	if points, _ := rules.AwardLate(after, question, Response{CreatedAt: noon}, time.Time{}); points != 2 {
		t.Errorf("got %d points more of the 7 of a day, want 2", points)
	}
	_, first := DefaultRules().AwardLate(Stats{}, question, Response{CreatedAt: noon}, time.Time{})
	if first.CreatedAt != noon || first.UpdatedAt != noon {
		t.Errorf("the first late answer leads to %+v", first)
	}
}
