package console

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/local"
)

// askForPictures asks questions of Ask-a-Human, and notifies two people of them.
func askForPictures(t *testing.T, run *local.Runner) {
	t.Helper()
	agent := clientOf(t, run, "askahuman", "agent")
	for device, person := range map[string]string{"doras-phone": "dora", "emils-phone": "emil"} {
		agent.send("POST", "/human/push/subscribe", map[string]any{"fcm_token": device, "min_interval_minutes": 5},
			"X-Fingerprint", person)
	}
	for _, prompt := range []string{"Should an error message apologise?", "Is this summary fair to both authors?"} {
		agent.send("POST", "/agent/questions", map[string]any{"prompt": prompt, "type": "text"}, "X-Agent-Id", "me")
		for _, schedule := range rooms.Of(run).Schedules.Schedules() {
			if strings.Contains(schedule.Name, "askahuman") {
				if err := run.RunSchedule(t.Context(), schedule.Name); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	agent.send("GET", "/human/questions", nil, "X-Fingerprint", "alice")
	push(t, run, "doras-phone", "Your answer counted", "You have earned 12 points.")
}
