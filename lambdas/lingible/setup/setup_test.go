package setup_test

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

// The variable TIME_ZONE names the zone of the days; a name that is none says what to write.
func TestCalendar(t *testing.T) {
	t.Parallel()
	for value, midnight := range map[string]string{
		"": "2026-02-03T06:00:00Z", "Europe/Vienna": "2026-02-02T23:00:00Z", "UTC": "2026-02-03T00:00:00Z",
		"Mars/Olympus": "", "../etc/passwd": "", "posixrules": "", "Local": "",
	} {
		calendar, err := setup.Calendar(kit.Environment{Getenv: func(name string) string {
			if name != "TIME_ZONE" {
				t.Errorf("it reads %s", name)
			}
			return value
		}})
		switch {
		case midnight == "" && (err == nil || !strings.Contains(err.Error(), "TIME_ZONE") ||
			!strings.Contains(err.Error(), "America/Chicago")):
			t.Errorf("%s: got %v", value, err)
		case midnight != "" && (err != nil || calendar.NextMidnight(lingibletest.Began()).Format(
			"2006-01-02T15:04:05Z07:00") != midnight):
			t.Errorf("%s: got %s, %v; want %s", value, calendar.NextMidnight(lingibletest.Began()), err, midnight)
		}
	}
}
