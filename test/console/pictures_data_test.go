package console

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/local"
)

func fillForPictures(t *testing.T, run *local.Runner) []shot {
	t.Helper()
	return []shot{
		{name: "platforms", view: "#/"}, {name: "functions", view: "#/functions"}, {name: "tables", view: "#/tables"}, {name: "streams", view: "#/streams"},
		{name: "queues", view: "#/queues"}, {name: "schedules", view: "#/schedules"}, {name: "push", view: "#/push"}, {name: "buckets", view: "#/buckets"},
		{name: "lake", view: "#/lake"}, {name: "permissions", view: "#/permissions"}, {name: "faults", view: "#/faults"},
	}
}
