package clarity

import "time"

// Difficulty is how hard a scenario is.
type Difficulty string

// The difficulties.
const (
	Beginner     Difficulty = "beginner"
	Intermediate Difficulty = "intermediate"
	Advanced     Difficulty = "advanced"
)

// Scenario is a situation with questions, also on the wire.
type Scenario struct {
	ID               string     `json:"scenarioId" example:"city-bike-lanes"`
	Title            string     `json:"title"`
	Description      string     `json:"description"`
	Difficulty       Difficulty `json:"difficulty" enum:"beginner,intermediate,advanced"`
	Tags             []string   `json:"tags"`
	Questions        []Question `json:"questions"`
	Active           bool       `json:"active"`
	CreatedAt        time.Time  `json:"createdAt"`
	EstimatedMinutes int        `json:"estimatedMinutes" minimum:"1"`
}
