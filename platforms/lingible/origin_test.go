package lingible_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// TestLingibleIsTheOrigin checks the model against the origin, whose values are written out here
// once more.
func TestLingibleIsTheOrigin(t *testing.T) {
	t.Parallel()
	d := lingible.Platform().Database
	must.OK(t, lingible.Platform().Validate())
	var tables, indexes []string
	for _, table := range d.Tables {
		tables = append(tables, strings.Join([]string{table.Name, table.EnvironmentVariable(), table.TimeToLive}, " "))
		if table.Key != (schema.Key{Partition: "PK", Sort: "SK"}) || !table.Capacity.OnDemand() {
			t.Errorf("%s: got key %v, capacity %v", table.Name, table.Key, table.Capacity)
		}
		for _, i := range table.Indexes {
			indexes = append(indexes, strings.Join([]string{table.Name, i.Name, strings.Join(i.KeyAttributes(), ","),
				string(i.Projection), strings.Join(i.Include, ",")}, " "))
			for _, key := range i.KeyAttributes() {
				if a, _ := table.Attribute(key); a.Type != schema.String && a.Type != schema.Number {
					t.Errorf("%s: the key %s is a %s", i.Name, key, a.Type)
				}
			}
		}
	}
	if want := []string{
		"Submissions SUBMISSIONS_TABLE ttl",
		"Lexicon LEXICON_TABLE ",
		"Trending TRENDING_TABLE ttl",
		"Users USERS_TABLE ttl",
		"Translations TRANSLATIONS_TABLE ttl",
	}; !slices.Equal(tables, want) {
		t.Errorf("got tables\n%s\nwant\n%s", strings.Join(tables, "\n"), strings.Join(want, "\n"))
	}
	if want := []string{
		"Submissions SubmissionsStatusIndex status,created_at INCLUDE submission_id,user_id,slang_term,context",
		"Submissions SubmissionsByUserIndex user_id,created_at KEYS_ONLY ",
		"Submissions SubmissionsByIdIndex submission_id  ",
		"Submissions ValidationStatusIndex llm_validation_status INCLUDE submission_id,user_id,slang_term",
		"Lexicon LexiconSourceIndex source,term KEYS_ONLY ",
		"Lexicon LexiconQuizDifficultyIndex quiz_difficulty,quiz_score INCLUDE term,gloss,examples,tags",
		"Lexicon LexiconQuizCategoryIndex quiz_category,quiz_score INCLUDE term,gloss,examples,tags",
		"Trending TrendingActiveIndex is_active,popularity_score INCLUDE term,category,definition",
		"Trending TrendingCategoryIndex category,popularity_score INCLUDE term,definition,is_active",
		"Users UsersTierIndex tier,updated_at KEYS_ONLY ",
	}; !slices.Equal(indexes, want) {
		t.Errorf("got indexes\n%s\nwant\n%s", strings.Join(indexes, "\n"), strings.Join(want, "\n"))
	}
	for table, names := range map[string]string{
		"Submissions": "submission_id user_id slang_term meaning example_usage context status created_at reviewed_at " +
			"approval_type reviewed_by llm_validation_status llm_validation_result upvotes upvoted_by ttl",
		"Lexicon": "gloss variants examples tags regions sources first_attested attestation_note " +
			"is_quiz_eligible quiz_difficulty quiz_category quiz_score confidence momentum last_updated",
		"Trending": "term definition category popularity_score search_count translation_count first_seen " +
			"last_updated is_active example_usage origin related_terms ttl",
		"Users": "email tier status created_at updated_at daily_used reset_daily_at quiz_count session_status " +
			"total_score total_possible ttl",
		"Translations": "translation_id original_text translated_text direction confidence_score model_used " +
			"created_at ttl",
	} {
		of, _ := d.Table(table)
		for name := range strings.FieldsSeq(names) {
			if _, ok := of.Attribute(name); !ok {
				t.Errorf("%s: the origin's attribute %s is missing", table, name)
			}
		}
	}
	var rows []string
	for _, p := range d.AccessPatterns {
		if p.Origin != "" {
			rows = append(rows, p.Origin)
		}
	}
	for _, row := range []string{
		"Query by status", "Query by user", "Get by ID", "Query validation status",
		"Export by source", "Quiz by difficulty", "Quiz by category", "Get by term",
		"Global trending", "Category trending",
		"Get user profile", "Get usage limits", "Get quiz session", "Query by tier",
		"Get user translations", "Get single translation",
	} {
		if !slices.Contains(rows, row) {
			t.Errorf("no access pattern for the origin's row %q", row)
		}
	}
}
