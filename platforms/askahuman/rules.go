package askahuman

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Rules are the numbers of Ask-a-Human that a team may choose. Functions find their [Rules.Encode] in their
// environment. To change one, begin with a copy of [DefaultRules].
type Rules struct {
	// RateLimits are the limits that the routes of [Platform] name.
	RateLimits []schema.RateLimit
	// OpenQuestions is how many questions of one agent may be open or partial.
	OpenQuestions int
	// Points are the points for each action, by the names below.
	Points map[string]int
	// DailyPoints limits the points that a person earns on one UTC day.
	DailyPoints int
}

// The actions that earn points.
const (
	// PointsText and PointsMultipleChoice are for an answer to a question of that
	// type.
	PointsText           = "text"
	PointsMultipleChoice = "multiple_choice"
	// PointsConfidence is for stating a confidence.
	PointsConfidence = "confidence"
	// PointsLongText is for a text of more than 100 characters.
	PointsLongText = "long_text"
	// PointsNotified is for an answer within 5 minutes of a notification.
	PointsNotified = "notified"
	// PointsEarly is for an answer to a question with less than half of its answers.
	PointsEarly = "early"
	// PointsStreak3, PointsStreak7, PointsStreak30 and PointsStreak100 are for the answer that makes a streak that many
	// days long.
	PointsStreak3   = "streak_3"
	PointsStreak7   = "streak_7"
	PointsStreak30  = "streak_30"
	PointsStreak100 = "streak_100"
)

// AddressesPerPerson is the default ratio of an address's rate limit to one person's. Many people
// share the address of an office or a mobile network.
const AddressesPerPerson = 20

// DefaultRules returns the rules of the wire contract.
func DefaultRules() Rules {
	return Rules{
		RateLimits: []schema.RateLimit{
			{Name: "create", Requests: 60, Window: time.Hour, Per: PerAgent},
			{Name: "poll", Requests: 600, Window: time.Hour, Per: PerAgent},
			{Name: "answer", Requests: 30, Window: time.Hour, Per: PerPerson},
			{Name: "read", Requests: 300, Window: time.Hour, Per: PerPerson, AddressRequests: 300 * AddressesPerPerson},
			{Name: "subscribe", Requests: 10, Window: time.Hour, Per: PerPerson,
				AddressRequests: 10 * AddressesPerPerson},
		},
		OpenQuestions: DefaultOpenQuestions,
		Points: map[string]int{
			PointsText: 10, PointsMultipleChoice: 5, PointsConfidence: 2, PointsLongText: 5, PointsNotified: 3,
			PointsEarly:   5,
			PointsStreak3: 10, PointsStreak7: 25, PointsStreak30: 100, PointsStreak100: 500,
		},
		DailyPoints: 500,
	}
}

// OutOfRange returns the numbers that are too low or too high.
func (r Rules) OutOfRange() finding.List {
	var found finding.List
	add := func(path, got, allowed string) {
		found.Append(finding.Finding{Path: path, Got: got, Allowed: allowed, Remedy: "leave it out for the default"})
	}
	check := func(path string, got, least, most int) {
		if got < least || got > most {
			add(path, fmt.Sprint(got), fmt.Sprintf("%d to %d", least, most))
		}
	}
	for _, l := range r.RateLimits {
		path := fmt.Sprintf("RateLimits[%q]", l.Name)
		check(path+".Requests", l.Requests, 1, 1_000_000)
		if l.Window < time.Minute || l.Window > 24*time.Hour || l.Window%time.Second != 0 {
			add(path+".Window", l.Window.String(), "1m0s to 24h0m0s in whole seconds")
		}
		switch {
		case l.AddressRequests == 0:
		case l.Per != PerPerson:
			add(path+".AddressRequests", fmt.Sprint(l.AddressRequests),
				fmt.Sprintf("0, for it is counted per %s", l.Per))
		default:
			check(path+".AddressRequests", l.AddressRequests, l.Requests, 100_000_000)
		}
	}
	check("OpenQuestions", r.OpenQuestions, 1, 10_000)
	for _, name := range slices.Sorted(maps.Keys(r.Points)) {
		check(fmt.Sprintf("Points[%q]", name), r.Points[name], 0, 100_000)
	}
	check("DailyPoints", r.DailyPoints, 1, 1_000_000)
	return found
}

// Encode returns the rules as compact JSON.
func (r Rules) Encode() string {
	text, err := json.Marshal(r)
	if err != nil {
		// Rules contain only numbers and text, which always encode.
		panic(fmt.Sprintf("askahuman: encoding rules: %v", err))
	}
	return string(text)
}

// ParseRules reads what [Rules.Encode] wrote; an empty text gives [DefaultRules]. It refuses unknown fields, numbers
// out of range, and limits or points with other names than the default ones.
func ParseRules(text string) (Rules, error) {
	byDefault := DefaultRules()
	if text == "" {
		return byDefault, nil
	}
	var r Rules
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return Rules{}, fmt.Errorf("reading rules: %w", err)
	}
	if decoder.More() {
		return Rules{}, errors.New("reading rules: something follows them")
	}
	same := func(a, b schema.RateLimit) bool { return a.Name == b.Name && a.Per == b.Per }
	if !slices.EqualFunc(r.RateLimits, byDefault.RateLimits, same) ||
		!maps.EqualFunc(r.Points, byDefault.Points, func(int, int) bool { return true }) {
		return Rules{}, errors.New("rules with other limits or points than the platform has: write what Rules.Encode " +
			"gives")
	}
	if err := r.OutOfRange().Err(); err != nil {
		return Rules{}, fmt.Errorf("reading rules: %w", err)
	}
	return r, nil
}
