package platforms_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// A team can add an attribute to each record of each platform, with its events on and off. The lake that has the record
// gets a column.
func TestExtended(t *testing.T) {
	t.Parallel()
	for _, p := range platforms.All() {
		for _, described := range []schema.Platform{p.Schema, p.Whole.Publishing()} {
			extended := dynamotest.Extended(described)
			team := schema.Own{Functions: []schema.Function{{Name: dynamotest.Team, Trigger: schema.OnOther{}}}}
			for _, r := range extended.Records {
				team.AccessPatterns = append(team.AccessPatterns, schema.UpdateItem.Pattern("Extend"+r.Name, r.Table,
					"Write what is added.").UsedBy(dynamotest.Team))
				for _, l := range extended.Lakes {
					entity, ok := l.Entity(r.Entity)
					table, _ := extended.Database.Table(r.Table)
					columns := entity.ColumnsOf(table)
					if ok && columns[len(columns)-1].Name != dynamotest.Added(r.Name) {
						t.Errorf("%s: the lake has no column of the %s", p.Name(), r.Name)
					}
				}
			}
			if err := extended.Join(team).Validate(); err != nil || len(extended.Records) < 2 {
				t.Errorf("%s with %d records: %v", p.Name(), len(extended.Records), err)
			}
		}
	}
}
