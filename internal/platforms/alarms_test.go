package platforms_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/tools/reference/figures"
)

// toDo is an item of the list of docs/operate/alarms.md that says of alarms what to do.
var toDo = regexp.MustCompile("(?m)^- (`[^`\n]*Alarm`(?:,\\s+`[^`\n]*Alarm`)*): +\\S")

// ofTargets are alarms that a platform has with the prop On, which no environment sets.
const ofTargets = "On*DeadLettersAlarm"

// docs/operate/alarms.md says once of each alarm what to do: by its name, or by a pattern. It names no other alarm.
func TestAlarmsAreExplained(t *testing.T) {
	t.Parallel()
	explained := map[string]int{}
	for _, found := range toDo.FindAllStringSubmatch(figures.Page(t, "operate/alarms.md"), -1) {
		for name := range strings.SplitSeq(found[1], ",") {
			name = strings.Trim(strings.TrimSpace(name), "`")
			if _, twice := explained[name]; twice {
				t.Errorf("docs/operate/alarms.md says twice what to do about %s", name)
			}
			explained[name] = 0
		}
	}
	for _, environments := range variants {
		for environment, v := range environments {
			for id := range v.Template.Named("AWS::CloudWatch::Alarm") {
				id = strings.TrimPrefix(id, v.ID)
				var by []string
				for pattern := range explained {
					ok, err := path.Match(pattern, id)
					if err != nil {
						t.Fatalf("%s: %v", pattern, err)
					}
					if ok {
						by = append(by, pattern)
					}
				}
				if slices.Contains(by, id) {
					by = []string{id}
				}
				if len(by) != 1 {
					t.Errorf("docs/operate/alarms.md explains %s of %s, %s, as %q, want one", id, v.Name(), environment,
						by)
				}
				for _, pattern := range by {
					explained[pattern]++
				}
			}
		}
	}
	for pattern, alarms := range explained {
		if alarms == 0 && pattern != ofTargets {
			t.Errorf("docs/operate/alarms.md explains %s, which no platform has", pattern)
		}
	}
}
