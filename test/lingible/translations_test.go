package lingible

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// A free user has ten translations a day, keeps none, and becomes a premium user at once.
func TestTranslate(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newUser(t, on)
	if p := one.get(t, "/user/profile"); p["user_id"] != one.ID || p["tier"] != "free" || p["status"] != "active" {
		t.Errorf("got profile %v", p)
	}
	got := one.translate(t, "that email looks sus")
	if got["translated_text"] == got["original_text"] || got["unchanged"] != false || got["daily_used"] != 1.0 ||
		got["daily_limit"] != 10.0 || got["direction"] != "to_standard" {
		t.Errorf("got %v", got)
	}
	// What stays the same is not charged.
	if got := one.translate(t, "The committee adjourned."); got["unchanged"] != true || got["daily_used"] != 1.0 {
		t.Errorf("got %v; want it unchanged, and one translation used", got)
	}
	f := refused(t, one.Try(t, http.MethodPost, "/translate", input{"text": strings.Repeat("å", 51)}),
		http.StatusUnprocessableEntity, "VAL_001")
	if len(f.Details) != 1 || f.Details[0].Field != "text" || !strings.Contains(f.Details[0].Message, "50") {
		t.Errorf("got %+v; want one problem that says 50", f)
	}
	refused(t, one.Try(t, http.MethodGet, "/translations", nil), http.StatusForbidden, "BIZ_004")
	// Ten at most, however many at once.
	var done, over atomic.Int32
	if err := onesynthtest.Together(30, func(int) error {
		r, err := one.Send(t.Context(), http.MethodPost, "/translate", nil, input{"text": "no cap"})
		if err != nil {
			return err
		}
		switch r.Status {
		case http.StatusOK:
			done.Add(1)
		case http.StatusTooManyRequests:
			refused(t, r, http.StatusTooManyRequests, "BIZ_001")
			over.Add(1)
		default:
			t.Errorf("got %v", r)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	usage := one.get(t, "/user/usage")
	if done.Load() != 9 || over.Load() != 21 || usage["daily_used"] != 10.0 || usage["daily_remaining"] != 0.0 {
		t.Errorf("got %d translations and %d refusals, and %v; want 9 and 21", done.Load(), over.Load(), usage)
	}
	one.must(t, http.MethodPost, "/user/upgrade", nil, http.StatusOK)
	if got := one.translate(t, strings.Repeat("x", 60)+" no cap"); got["daily_used"] != 11.0 ||
		got["daily_limit"] != 100.0 {
		t.Errorf("got %v; want the eleventh of 100", got)
	}
}

// A premium user's translations are kept, listed by pages, and deleted.
func TestHistory(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one, other := newPremium(t, on), newPremium(t, on)
	var ids []string
	for _, text := range []string{"no cap", "it looks sus", "my bad", "no cap, naïve 🧢"} {
		ids = append([]string{one.translate(t, text)["translation_id"].(string)}, ids...)
	}
	var listed []string
	for cursor := ""; ; {
		page := one.get(t, "/translations?limit=3&cursor="+cursor)
		for _, translation := range page.list("translations") {
			listed = append(listed, translation["translation_id"].(string))
		}
		var more bool
		if cursor, more = page["next_cursor"].(string); !more {
			break
		}
		refused(t, other.Try(t, http.MethodGet, "/translations?cursor="+cursor, nil), http.StatusUnprocessableEntity,
			"VAL_001")
	}
	if strings.Join(listed, " ") != strings.Join(ids, " ") {
		t.Errorf("got %v; want %v", listed, ids)
	}
	refused(t, other.Try(t, http.MethodDelete, "/translations/"+ids[0], nil), http.StatusNotFound, "RES_001")
	if r := one.Try(t, http.MethodDelete, "/translations/"+ids[0], nil); r.Status >= 300 {
		t.Errorf("got %v", r)
	}
	refused(t, one.Try(t, http.MethodDelete, "/translations/"+ids[0], nil), http.StatusNotFound, "RES_001")
	if r := one.Try(t, http.MethodDelete, "/translations", nil); r.Status >= 300 {
		t.Errorf("got %v", r)
	}
	if left := one.get(t, "/translations").list("translations"); len(left) != 0 {
		t.Errorf("got %v; want none", left)
	}
}

// Translations feed the trends, which the job scores.
func TestTrends(t *testing.T) {
	t.Parallel()
	on := shared(t)
	on.LocalOnly(t, "the test runs the schedule of the job")
	free, premium := newUser(t, on), newPremium(t, on)
	for range 5 {
		premium.translate(t, "it looks sus")
	}
	premium.translate(t, "sus")
	if err := on.Run.RunSchedule(t.Context(), on.Schedule(t, "TrendingJobSchedule")); err != nil {
		t.Fatal(err)
	}
	all := premium.get(t, "/trending?limit=100").list("trends")
	last, seen := 100.0, map[string]bool{}
	for _, trend := range all {
		score := trend["popularity_score"].(float64)
		if score > last || trend["is_active"] != true || trend["definition"] == "" {
			t.Errorf("got %v after a score of %v", trend, last)
		}
		last = score
		seen[trend["term"].(string)] = true
	}
	if !seen["sus"] || len(all) < 20 {
		t.Errorf("got %d trends, without sus: %v", len(all), seen)
	}
	few := free.get(t, "/trending?limit=100").list("trends")
	if len(few) != 10 {
		t.Errorf("got %d trends for a free user; want 10", len(few))
	}
	for _, trend := range few {
		if trend["category"] != "slang" {
			t.Errorf("got %v for a free user", trend)
		}
	}
	refused(t, free.Try(t, http.MethodGet, "/trending?category=phrase", nil), http.StatusForbidden, "BIZ_004")
	item := on.Item(t, "Trending", "PK", "TERM#sus", "SK", "METADATA#trending")
	if item["is_active"] != "true" || item["translation_count"].(float64) < 5 || item["search_count"].(float64) < 1 {
		t.Errorf("got %v", item)
	}
}
