package schema_test

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/schema"
)

// What a person owns names patterns that do what its kind needs, and says all that a deletion has to know.
func TestOwned(t *testing.T) {
	t.Parallel()
	for want, owned := range map[string]schema.Owned{
		"Owned[tasks].List":           {Kind: schema.DeleteOwned, List: "Drop", Write: "Drop"},
		"Owned[tasks].Write":          {Kind: schema.DeleteOwned, List: "List", Write: "List"},
		"Owned[tasks].Fields":         {Kind: schema.AnonymiseOwned, Write: "Change"},
		"Owned[tasks].Key":            {Kind: schema.AnonymiseOwned, Write: "Change", Fields: []string{"person"}},
		"Owned[tasks].Counter.Update": {Kind: schema.DecrementOwned, Write: "Drop"},
		"Owned[tasks]":                {Kind: schema.LeaveOwned, Until: "for a day"},
		"Owned[tasks].Kind":           {},
	} {
		owned.Name = "tasks"
		p := schema.Platform{Owned: []schema.Owned{owned}, Database: schema.Database{
			AccessPatterns: []schema.AccessPattern{schema.Query.Pattern("List", "Rows", "Rows."),
				schema.DeleteItem.Pattern("Drop", "Rows", "A row."),
				schema.UpdateItem.Pattern("Change", "Rows", "A row.")}}}
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want+":") {
			t.Errorf("got %v; want a finding of %s", err, want)
		}
	}
}
