package lingible

import (
	"fmt"
	"net/http"
	"testing"
)

// A quiz asks each term once, measures the time itself, and counts what a free user is asked.
func TestQuiz(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newUser(t, on)
	terms, session, score := map[string]bool{}, "", 0.0
	for i := range 10 {
		q := one.get(t, "/quiz/question?category=food")
		if again := one.get(t, "/quiz/question?category=money"); fmt.Sprint(again) != fmt.Sprint(q) {
			t.Errorf("got %v; want the question without an answer again: %v", again, q)
		}
		options := q.list("options")
		texts := map[any]bool{}
		for _, option := range options {
			texts[option["text"]] = true
		}
		if session == "" {
			session = q["session_id"].(string)
		}
		if len(options) != 4 || len(texts) != 4 || terms[q["term"].(string)] || q["session_id"] != session ||
			q["category"] != "food" {
			t.Errorf("got question %d %v after %v", i+1, q, terms)
		}
		terms[q["term"].(string)] = true
		body := input{"session_id": session, "question_id": q["question_id"],
			"selected_option": options[i%4]["option_id"], "time_taken_seconds": 0,
			"answered_at": "2020-01-01T00:00:00Z"}
		got := one.must(t, http.MethodPost, "/quiz/answer", body, http.StatusOK)
		points, right := got["points_earned"].(float64), got["is_correct"] == true
		if right != (got["correct_option"] == options[i%4]["option_id"]) || right && (points < 1 || points > 10) ||
			!right && points != 0 {
			t.Errorf("got %v", got)
		}
		score += points
		if again := one.must(t, http.MethodPost, "/quiz/answer", body,
			http.StatusOK); again["points_earned"] != points {
			t.Errorf("got %v; want the same points again", again)
		}
		body["selected_option"] = options[(i+1)%4]["option_id"]
		refused(t, one.Try(t, http.MethodPost, "/quiz/answer", body), http.StatusConflict, "RES_002")
	}
	refused(t, one.Try(t, http.MethodGet, "/quiz/question", nil), http.StatusTooManyRequests, "BIZ_001")
	progress := one.get(t, "/quiz/progress?session_id="+session)
	if progress["questions_asked"] != 10.0 || progress["total_possible"] != 100.0 ||
		progress["total_score"].(float64)-score > 0.001 || progress["status"] != "active" {
		t.Errorf("got %v; want ten questions and %v points", progress, score)
	}
	if ended := one.must(t, http.MethodPost, "/quiz/end", input{"session_id": session},
		http.StatusOK); ended["status"] != "ended" {
		t.Errorf("got %v", ended)
	}
	history := one.get(t, "/quiz/history")
	if days := history.list("days"); len(days) != 1 || days[0]["questions_asked"] != 10.0 ||
		history["remaining_today"] != 0.0 {
		t.Errorf("got %v", history)
	}
	refused(t, newUser(t, on).Try(t, http.MethodGet, "/quiz/progress?session_id="+session, nil), http.StatusNotFound,
		"RES_001")
}
