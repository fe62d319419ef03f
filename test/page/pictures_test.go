package page

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// The pictures of people.md and askahuman.md in docs/platforms, by make screenshots.
func TestPictures(t *testing.T) {
	folder := browser.Pictures(t)
	// Who looks at the page has answered these, as others have.
	const own = "6b0f5a0e-6a54-4c1e-9f0e-2f7f7c9d1a55"
	for i, audience := range []string{"technical", "ethics", "product", "creative", "general", "technical", "general"} {
		id := askFor(t, audience, "What do you think of this?", 4).id
		for n, person := range []string{own, "a", "b", "c"} {
			if n > 0 && i%(n+1) > 0 {
				continue
			}
			client := onesynthtest.NewClient(t, suite.Target(t))
			client.Header = http.Header{"X-Fingerprint": {person}}
			if r := client.Try(t, http.MethodPost, "/human/responses",
				map[string]any{"question_id": id, "answer": "It depends on who reads it.",
					"confidence": 4}); r.Status != http.StatusCreated {
				t.Fatal(r)
			}
		}
	}
	remember := askFor(t, "general", "When did you last change your mind because of what someone else said, and what "+
		"was it that convinced you?", 5)
	askFor(t, "ethics", "Is it fair to publish a summary of an interview that leaves out the answer that the guest "+
		"liked best?", 3)
	askFor(t, "general", "هل تفضّل أن تقرأ التعليمات أم أن تجرّب بنفسك؟", 4, "أقرأ أولًا", "أجرّب")
	apologise := askFor(t, "product", "Our service was down for ten minutes, and no data was lost. Should the "+
		"message that people see apologise?", 6, "Always", "Only if it is our fault", "Never")
	askFor(t, "technical", "What is the first thing you look at when a build fails on someone else's machine?", 3)

	report(t, askFor(t, "product", "Which of these two names would you rather click: the loud one, or the honest "+
		"one?", 3), "It is an advertisement.")

	for _, shot := range []struct {
		name, path string
		options    browser.Options
		steps      func(*browser.Tab)
	}{
		{"feed", "/", browser.Options{Width: 800, Height: 830}, nil},
		{"question", "/q/" + apologise.id, browser.Options{Width: 800, Height: 760}, func(tab *browser.Tab) {
			tab.Until("(document.querySelectorAll('input[name=option]')[1].click(), " +
				"document.querySelector('input[name=confidence][value=\"4\"]').click(), " +
				"document.activeElement.blur(), true)")
		}},
		{"phone", "/q/" + remember.id, browser.Options{Width: 360, Height: 740, Dark: true}, func(tab *browser.Tab) {
			write(tab, "Last week: a colleague drew what I had only described.")
			tab.Until("(document.activeElement.blur(), scrollTo(0, 0), true)")
		}},
		{"me", "/me", browser.Options{Width: 800, Height: 700}, nil},
		{"leaderboard", "/leaderboard", browser.Options{Width: 360, Height: 520}, nil},
		{"operators", "/operator", browser.Options{Width: 800, Height: 620}, func(tab *browser.Tab) {
			signIn(t, tab, "olga@example.com")
			tab.See("It is an advertisement.")
			tab.Until("(document.activeElement.blur(), true)")
		}},
	} {
		shot.options.Before = `localStorage.setItem('ask-a-human.person', '"` + own + `"')`
		tab := open(t, shot.path, shot.options)
		if shot.steps != nil {
			shot.steps(tab)
		}
		tab.Picture(filepath.Join(folder, shot.name+".webp"), 60)
	}
}
