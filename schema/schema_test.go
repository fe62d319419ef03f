package schema_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// A platform that has neither origin nor prefix is documented without.
func TestDocumentOfAnother(t *testing.T) {
	t.Parallel()
	p := minimal()
	p.Database.Prefix = ""
	for window, want := range map[time.Duration]string{
		time.Hour: "1h", 10 * time.Minute: "10m", 10 * time.Second: "10s", 70 * time.Second: "1m10s",
		90 * time.Minute: "1h30m",
	} {
		p.RateLimits[0].Window = window
		got := p.Document()
		for _, line := range []string{
			"### Notes (`notes`)\n",
			"| read: 1 in " + want + " per user |",
		} {
			if !strings.Contains(got, line) {
				t.Errorf("%s: got no %q:\n%s", window, line, got)
			}
		}
		if strings.Contains(got, "origin") {
			t.Errorf("got an origin:\n%s", got)
		}
	}
}

func TestEnvironmentVariable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Users": "USERS_TABLE", "UserStats": "USER_STATS_TABLE"} {
		if got := (schema.Table{Name: name}).EnvironmentVariable(); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestGrantsOfTransactions(t *testing.T) {
	t.Parallel()
	p := askahuman.Platform()
	got := p.Grants("SubmitResponse", "ListTopTotal", "CountAboveTotal")
	want := []schema.Grant{
		{Action: "PutItem", Table: "Responses"}, {Action: "UpdateItem", Table: "Questions"},
		{Action: "PutItem", Table: "UserStats"}, {Action: "UpdateItem", Table: "Guards"},
		{Action: "Query", Table: "UserStats", Index: "ByTotalPoints"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The ids of the first lake stay when others come.
func TestLakeID(t *testing.T) {
	t.Parallel()
	p := schema.Platform{Lakes: []schema.Lake{{Name: "notes"}, {Name: "click_events"}, {Name: "b2"}}}
	for name, want := range map[string]string{"notes": "Lake", "click_events": "LakeClickEvents", "b2": "LakeB2"} {
		if got := p.LakeID(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// minimal is a valid platform for the cases below to break.
func minimal() schema.Platform {
	return schema.Platform{
		Name: "notes",
		Database: schema.Database{
			Prefix: "notes",
			Tables: []schema.Table{{
				Name: "Notes", PhysicalName: "notes", Key: schema.Key{Partition: "id"}, TimeToLive: "ttl",
				Stream: schema.StreamNewAndOldImages,
				Attributes: []schema.Attribute{{Name: "id", Type: schema.String}, {Name: "ttl", Type: schema.Number},
					{Name: "text", Type: schema.String}, {Name: "flag", Type: schema.Boolean},
					{Name: "tags", Type: schema.List}, {Name: "at", Type: schema.Number}},
				Indexes: []schema.Index{{Name: "ByText", Key: schema.Key{Partition: "text", Sort: "at"},
					Projection: schema.ProjectKeysOnly}},
			}},
			AccessPatterns: schema.UsedBy("api", []schema.AccessPattern{
				{Name: "GetNote", Action: schema.GetItem, Table: "Notes"},
				{Name: "ListByText", Action: schema.Query, Table: "Notes", Index: "ByText",
					KeyConditions: []schema.KeyCondition{{Attribute: "text", Comparison: schema.Equal}}},
				{Name: "Move", Action: schema.TransactWriteItems,
					Writes: []schema.Write{{Table: "Notes", Action: schema.PutItem}}},
			}...),
		},
		Lakes: []schema.Lake{{
			Name: "notes", Table: "Notes",
			Entities: []schema.Entity{{Name: "note",
				Columns: []schema.Column{{Name: "body", Attribute: "text"}, {Name: "at", Type: schema.ColumnTimestamp}},
				Omit:    []string{"tags"}}},
			Views: []schema.View{{Name: "bodies", SQL: "SELECT body FROM note_changes",
				Columns: []schema.Column{{Name: "body", Type: schema.ColumnText}}}},
			Queries: []schema.SavedQuery{{Name: "Bodies", SQL: "SELECT * FROM bodies"}},
		}},
		RateLimits: []schema.RateLimit{{Name: "read", Requests: 1, Window: time.Hour, Per: schema.PerUser}},
		Functions:  []schema.Function{{Name: "api"}},
		Routes: []schema.Route{{Method: "GET", Path: "/notes/{id}", Function: "api", Caller: schema.CallerUser,
			RateLimit: "read"}},
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	if err := minimal().Validate(); err != nil {
		t.Fatalf("the platform that the cases break is not valid: %v", err)
	}
	table := func(p *schema.Platform) *schema.Table { return &p.Database.Tables[0] }
	pattern := func(p *schema.Platform, i int) *schema.AccessPattern { return &p.Database.AccessPatterns[i] }
	for name, test := range map[string]struct {
		spoil func(*schema.Platform)
		path  string
		text  string
	}{
		"ErrBooleanKey": {func(p *schema.Platform) {
			table(p).Indexes[0].Key.Partition = "flag"
		}, "Tables[Notes].Indexes[ByText].Key.Partition", "String, Number or Binary"},
		"ErrListKey": {func(p *schema.Platform) {
			table(p).Key.Sort = "tags"
		}, "Tables[Notes].Key.Sort", "String, Number or Binary"},
		"ErrUndeclaredKey": {func(p *schema.Platform) {
			table(p).Key.Partition = "nope"
		}, "Tables[Notes].Key.Partition", "declare"},
		"ErrSortIsPartition": {func(p *schema.Platform) {
			table(p).Key.Sort = "id"
		}, "Tables[Notes].Key.Sort", "another attribute"},
		"ErrTimeToLiveString": {func(p *schema.Platform) {
			table(p).TimeToLive = "text"
		}, "Tables[Notes].TimeToLive", "Number"},
		"ErrTimeToLiveUndeclared": {func(p *schema.Platform) {
			table(p).TimeToLive = "nope"
		}, "Tables[Notes].TimeToLive", "declare"},
		"ErrHalfCapacity": {func(p *schema.Platform) {
			table(p).Capacity.ReadUnits = 5
		}, "Tables[Notes].Capacity", "both"},
		"ErrIncludeNothing": {func(p *schema.Platform) {
			table(p).Indexes[0].Projection = schema.ProjectInclude
		}, "Tables[Notes].Indexes[ByText].Include", "KEYS_ONLY"},
		"ErrIncludeUnasked": {func(p *schema.Platform) {
			table(p).Indexes[0].Include = []string{"ttl"}
		}, "Tables[Notes].Indexes[ByText].Include", "ProjectInclude"},
		"ErrAttributeTwice": {func(p *schema.Platform) {
			table(p).Attributes = append(table(p).Attributes, schema.Attribute{Name: "id", Type: schema.String})
		}, "Tables[Notes].Attributes[6]", "once"},
		"ErrUnknownType": {func(p *schema.Platform) {
			table(p).Attributes[2].Type = "Text"
		}, "Tables[Notes].Attributes[text].Type", "write String"},
		"ErrIndexTwice": {func(p *schema.Platform) {
			table(p).Indexes = append(table(p).Indexes, table(p).Indexes[0])
		}, "Tables[Notes].Indexes[1]", "once"},
		"ErrPhysicalName": {func(p *schema.Platform) {
			table(p).PhysicalName = "my notes"
		}, "Tables[Notes].PhysicalName", "letters"},
		"ErrUnknownTable": {func(p *schema.Platform) {
			pattern(p, 0).Table = "Nope"
		}, "AccessPatterns[GetNote].Table", "declared table"},
		"ErrUnknownIndex": {func(p *schema.Platform) {
			pattern(p, 1).Index = "ByNope"
		}, "AccessPatterns[ListByText].Index", "name an index"},
		"ErrScan": {func(p *schema.Platform) {
			pattern(p, 0).Action = "Scan"
		}, "AccessPatterns[GetNote].Action", "no access pattern"},
		"ErrUnprojectedRead": {func(p *schema.Platform) {
			pattern(p, 1).Attributes = []string{"ttl"}
		}, "AccessPatterns[ListByText].Attributes", "does not project"},
		"ErrUnprojectedFilter": {func(p *schema.Platform) {
			pattern(p, 1).Filter = []string{"tags"}
		}, "AccessPatterns[ListByText].Filter", "does not project"},
		"ErrFilterOnKey": {func(p *schema.Platform) {
			pattern(p, 1).Filter = []string{"at"}
		}, "AccessPatterns[ListByText].Filter", "key condition"},
		"ErrConsistentIndex": {func(p *schema.Platform) {
			pattern(p, 1).Consistent = true
		}, "AccessPatterns[ListByText].Consistent", "consistently"},
		"ErrPartitionRange": {func(p *schema.Platform) {
			pattern(p, 1).KeyConditions[0].Comparison = schema.Less
		}, "AccessPatterns[ListByText].KeyConditions[0].Comparison", "="},
		"ErrBeginsWithNumber": {func(p *schema.Platform) {
			pattern(p, 1).KeyConditions = append(pattern(p, 1).KeyConditions,
				schema.KeyCondition{Attribute: "at", Comparison: schema.BeginsWith})
		}, "AccessPatterns[ListByText].KeyConditions[1].Comparison", "Number"},
		"ErrConditionOnWrongKey": {func(p *schema.Platform) {
			pattern(p, 1).KeyConditions[0].Attribute = "id"
		}, "AccessPatterns[ListByText].KeyConditions[0].Attribute", "in this order"},
		"ErrNoCondition": {func(p *schema.Platform) {
			pattern(p, 1).KeyConditions = nil
		}, "AccessPatterns[ListByText].KeyConditions", "partition key"},
		"ErrIndexOfGetItem": {func(p *schema.Platform) {
			pattern(p, 0).Index = "ByText"
		}, "AccessPatterns[GetNote].Index", "only a Query"},
		"ErrEmptyTransaction": {func(p *schema.Platform) {
			pattern(p, 2).Writes = nil
		}, "AccessPatterns[Move].Writes", "1 to 100"},
		"ErrTransactedRead": {func(p *schema.Platform) {
			pattern(p, 2).Writes[0].Action = schema.GetItem
		}, "AccessPatterns[Move].Writes[0].Action", "PutItem"},
		"ErrPatternOfUnknown": {func(p *schema.Platform) {
			pattern(p, 0).Functions = []string{"nope"}
		}, "AccessPatterns[GetNote].Functions[0]", "declared"},
		"ErrPatternTwice": {func(p *schema.Platform) {
			*pattern(p, 0) = pattern(p, 0).UsedBy("api")
		}, "AccessPatterns[GetNote].Functions[1]", "once"},
		"ErrUnusedPattern": {func(p *schema.Platform) {
			pattern(p, 1).Functions = nil
		}, "AccessPatterns[ListByText]", "Offered"},
		"ErrNotExisting": {func(p *schema.Platform) {
			*p = p.Join(schema.Own{AccessPatterns: []schema.AccessPattern{schema.Existing("Nope").UsedBy("api")}})
		}, "AccessPatterns[Nope]", "name a pattern of the platform"},
		"ErrUnknownPer": {func(p *schema.Platform) {
			p.RateLimits[0].Per = "colour"
		}, "RateLimits[read].Per", "PerUser"},
		"ErrPerNothing": {func(p *schema.Platform) {
			p.RateLimits[0].Per = ""
		}, "RateLimits[read].Per", "PerUser"},
		"ErrNoRequests": {func(p *schema.Platform) {
			p.RateLimits[0].Requests = 0
		}, "RateLimits[read].Requests", "at least 1"},
		"ErrUnknownFunction": {func(p *schema.Platform) {
			p.Routes[0].Function = "nope"
		}, "Routes[GET /notes/{id}].Function", "declared"},
		"ErrLimitNotCounted": {func(p *schema.Platform) {
			p.Database.AccessPatterns = append(p.Database.AccessPatterns, schema.RateLimitPatterns("Notes", "other")...)
		}, "Routes[GET /notes/{id}].RateLimit", `let the function "api" count calls: name it in RateLimitPatterns`},
		"ErrCallersOfOneName": {func(p *schema.Platform) {
			route := p.Routes[0]
			route.Path, route.Caller.Group = "/notes", "admin"
			p.Routes = append(p.Routes, route)
		}, "Routes[GET /notes].Caller", `it has the group "" and this one "admin"`},
		"ErrKeyOfTwoTypes": {func(p *schema.Platform) {
			p.Database.Tables = append(p.Database.Tables, schema.Table{Name: "Words", PhysicalName: "words",
				Key:        schema.Key{Partition: "text"},
				Attributes: []schema.Attribute{{Name: "text", Type: schema.Number}}})
		}, "Tables[Words].Attributes[text].Type", "a key of the table Notes, where it is a String"},
		"ErrKeyOfThreeTypes": {func(p *schema.Platform) {
			for name, own := range map[string]bool{"Words": true, "Signs": false} {
				p.Database.Tables = append(p.Database.Tables, schema.Table{Name: name, OwnKeyTypes: own,
					PhysicalName: strings.ToLower(name), Key: schema.Key{Partition: "text"},
					Attributes: []schema.Attribute{{Name: "text", Type: schema.Number}}})
			}
		}, "Tables[Signs].Attributes[text].Type", "say OwnKeyTypes"},
		"ErrUnknownLimit": {func(p *schema.Platform) {
			p.Routes[0].RateLimit = "nope"
		}, "Routes[GET /notes/{id}].RateLimit", "declared"},
		"ErrRouteID": {func(p *schema.Platform) {
			p.Routes[0].ID = "Read note"
		}, "Routes[GET /notes/{id}].ID", "askQuestion"},
		"ErrRouteIDTwice": {func(p *schema.Platform) {
			other := p.Routes[0]
			p.Routes[0].ID, other.ID, other.Path = "readNote", "readNote", "/note"
			p.Routes = append(p.Routes, other)
		}, "Routes[GET /note].ID", "once"},
		"ErrMethod": {func(p *schema.Platform) {
			p.Routes[0].Method = "get"
		}, "Routes[get /notes/{id}].Method", "GET"},
		"ErrSameRouteOtherName": {func(p *schema.Platform) {
			r := p.Routes[0]
			r.Path = "/notes/{other}"
			p.Routes = append(p.Routes, r)
		}, "Routes[1]", "once"},
		"ErrLakeName": {func(p *schema.Platform) {
			p.Lakes[0].Name = "My Lake"
		}, "Lakes[My Lake].Name", "underscores"},
		"ErrLakeOfNoTable": {func(p *schema.Platform) {
			p.Lakes[0].Table = "Nope"
		}, "Lakes[notes].Table", "declared table"},
		"ErrLakeWithoutStream": {func(p *schema.Platform) {
			table(p).Stream = schema.StreamNone
		}, "Lakes[notes].Table", "NEW_AND_OLD_IMAGES"},
		"ErrLakeOfNothing": {func(p *schema.Platform) {
			p.Lakes[0].Entities = nil
		}, "Lakes[notes].Entities", "at least one"},
		"ErrColumnOfNothing": {func(p *schema.Platform) {
			p.Lakes[0].Entities[0].Columns[0].Attribute = "nope"
		}, "Lakes[notes].Entities[note].Columns[body].Attribute", "declare"},
		"ErrColumnType": {func(p *schema.Platform) {
			p.Lakes[0].Entities[0].Columns[0].Type = "varchar"
		}, "Lakes[notes].Entities[note].Columns[body].Type", "ColumnText"},
		"ErrNumberOfString": {func(p *schema.Platform) {
			p.Lakes[0].Entities[0].Columns[0].Type = schema.ColumnInteger
		}, "Lakes[notes].Entities[note].Columns[body].Type", "Number"},
		"ErrChangeColumn": {func(p *schema.Platform) {
			p.Lakes[0].Entities[0].Columns[0].Name = "event_id"
		}, "Lakes[notes].Entities[note].Columns[6]", "once"},
		"ErrPartitionColumn": {func(p *schema.Platform) {
			p.Lakes[0].Entities[0].Columns[0].Name = "event_date"
		}, "Lakes[notes].Entities[note].Columns[event_date].Name", "partitioned"},
		"ErrLakeTwice": {func(p *schema.Platform) { p.Lakes = append(p.Lakes, p.Lakes[0]) }, "Lakes[1]", "once"},
		"ErrEmptyLake": {func(p *schema.Platform) {
			p.Lakes = append(p.Lakes, schema.Lake{})
		}, "Lakes[].Name", "underscores"},
		"ErrLakeID": {func(p *schema.Platform) {
			other := p.Lakes[0]
			other.Name = "of_notes"
			p.Lakes, p.Functions[0].ID = append(p.Lakes, other), "LakeOfNotes"
		}, "Functions[api].ID", "another construct id"},
		"ErrColumnOfList": {func(p *schema.Platform) {
			p.Lakes[0].Entities[0].Omit = nil
		}, "Lakes[notes].Entities[note].Columns[tags].Type", "Omit"},
		"ErrOmitted": {func(p *schema.Platform) {
			p.Lakes[0].Entities[0].Omit = []string{"tags", "nope"}
		}, "Lakes[notes].Entities[note].Omit", "declare"},
		"ErrOmitsColumn": {func(p *schema.Platform) {
			p.Lakes[0].Entities[0].Omit = []string{"tags", "text"}
		}, "Lakes[notes].Entities[note].Omit", "one of the two"},
		"ErrOmitsOfMany": {func(p *schema.Platform) {
			p.Lakes[0].Entities[0].SortPrefix, p.Lakes[0].Entities[0].PartitionPrefix = "", "NOTE#"
		}, "Lakes[notes].Entities[note].Omit", "prefix"},
		"ErrViewIsTable": {func(p *schema.Platform) {
			p.Lakes[0].Views[0].Name = "note_changes"
		}, "Lakes[notes].Views[note_changes].Name", "once"},
		"ErrViewOfNoColumns": {func(p *schema.Platform) {
			p.Lakes[0].Views[0].Columns = nil
		}, "Lakes[notes].Views[bodies].Columns", "types"},
		"ErrViewOfNothing": {func(p *schema.Platform) {
			p.Lakes[0].Views[0].SQL = ""
		}, "Lakes[notes].Views[bodies].SQL", "SELECT"},
		"ErrQueryOfNothing": {func(p *schema.Platform) {
			p.Lakes[0].Queries[0].SQL = ""
		}, "Lakes[notes].Queries[Bodies]", "SELECT"},
		"ErrNoCaller": {func(p *schema.Platform) {
			p.Routes[0].Caller = schema.Caller{}
		}, "Routes[GET /notes/{id}].Caller", "CallerAnyone"},
		"ErrKeysStay": {func(p *schema.Platform) {
			table(p).TimeToLive, table(p).Attributes = "",
				append(table(p).Attributes, schema.IdempotencyAttributes()...)
			p.Database.AccessPatterns = append(p.Database.AccessPatterns, schema.IdempotencyPatterns("Notes")...)
		}, "Tables[Notes].TimeToLive", "idempotency keys"},
		"ErrKeysUndeclared": {func(p *schema.Platform) {
			p.Database.AccessPatterns = append(p.Database.AccessPatterns, schema.IdempotencyPatterns("Notes")...)
		}, "Tables[Notes].Attributes", "IdempotencyAttributes"},
		"ErrCountersUndeclared": {func(p *schema.Platform) {
			p.Database.AccessPatterns = append(p.Database.AccessPatterns, schema.RateLimitPatterns("Notes")...)
		}, "Tables[Notes].Attributes", "RateLimitAttributes"},
		"ErrLoneCheck": {func(p *schema.Platform) {
			pattern(p, 0).Action = schema.ConditionCheckItem
		}, "AccessPatterns[GetNote].Action", "part of a transaction"},
		"ErrWriteReads": {func(p *schema.Platform) {
			pattern(p, 0).Action, pattern(p, 0).Consistent = schema.PutItem, true
		}, "AccessPatterns[GetNote].Attributes", "reads nothing"},
		"ErrBatchOfNothing": {func(p *schema.Platform) {
			pattern(p, 0).Action, pattern(p, 0).Attributes = schema.BatchGetItem, []string{"nope"}
		}, "AccessPatterns[GetNote].Attributes", "declare"},
		"ErrTablesWithoutBatch": {func(p *schema.Platform) {
			pattern(p, 0).Tables = []string{"Notes"}
		}, "AccessPatterns[GetNote].Tables", "leave Table"},
		"ErrTablesUndeclared": {func(p *schema.Platform) {
			pattern(p, 0).Action, pattern(p, 0).Table, pattern(p, 0).Tables = schema.BatchGetItem, "",
				[]string{"Nothing"}
		}, "AccessPatterns[GetNote].Tables", "declared table"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := minimal()
			test.spoil(&p)
			var findings finding.List
			if err := p.Validate(); !errors.As(err, &findings) {
				t.Fatalf("got %v, want findings", err)
			}
			for _, f := range findings {
				if f.Path == test.path && strings.Contains(f.Allowed+": "+f.Remedy, test.text) && f.Got != "" {
					return
				}
			}
			t.Errorf("no finding at %s that says %q:\n%v", test.path, test.text, findings)
		})
	}
}

// A pattern that no function of the platform uses may be for others, and a function that serves no route may
// be invoked in another way.
func TestValidateTakesWhatIsMeant(t *testing.T) {
	t.Parallel()
	p := minimal()
	p.Database.AccessPatterns[1].Functions, p.Database.AccessPatterns[1].Offered = nil, true
	p.Database.AccessPatterns = append(p.Database.AccessPatterns,
		schema.BatchGetItem.Pattern("Each", "", "Items.").Across("Notes").ForOthers())
	for name, trigger := range triggers {
		p.Functions = append(p.Functions, schema.Function{Name: name, Trigger: trigger, Timeout: 5 * time.Second})
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	p := minimal()
	p.Routes[0].Caller, p.Routes[0].RateLimit, p.RateLimits = schema.Caller{Name: "No one"}, "", nil
	err := p.Validate()
	if want := "1 finding:\n  Routes[GET /notes/{id}].Caller: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want it to begin with %q", err, want)
	}
}

func TestValidateReportsEverything(t *testing.T) {
	t.Parallel()
	p := minimal()
	p.Database.Tables[0].TimeToLive = "nope"
	p.Database.AccessPatterns[0].Table = "Nope"
	p.Routes[0].RateLimit = "nope"
	var findings finding.List
	if err := p.Validate(); !errors.As(err, &findings) || len(findings) != 3 {
		t.Errorf("got %v, want three findings", err)
	}
}
