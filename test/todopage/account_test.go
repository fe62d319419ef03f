package todopage

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// People change their name and address, take a copy of all that is theirs, and delete it. The device then keeps
// nothing.
func TestAccount(t *testing.T) {
	p, other := user(t), user(t)
	want := map[string]task{}
	for n := range 101 {
		one := p.has(fmt.Sprint("Task ", n), "category", "home", "status", []string{"pending", "completed"}[n%2])
		want[one.ID] = one
	}
	tab := p.open(browser.Options{Before: browser.Saves})
	tab.Excuse("409")
	tab.Show("/account")
	tab.Until("document.getElementById('email').value === '" + p.Name + "@example.com'")
	tab.Write("email", other.Name+"@example.com\r")
	tab.See("another user has this email address")
	tab.CheckRules()
	tab.Write("email", p.Name+"@example.org")
	tab.Write("name", "Bea\r")
	tab.See("Name and address are saved.")
	tab.Click("Save a copy")
	tab.See("The copy is saved.")
	tab.Until("'saved' in globalThis")
	var saved struct {
		User  struct{ Name, Email string }
		Tasks []task
	}
	must.OK(t, json.Unmarshal([]byte(browser.Evaluate[string](tab, "saved")), &saved))
	if saved.User.Name != "Bea" || saved.User.Email != p.Name+"@example.org" || len(saved.Tasks) != len(want) {
		t.Errorf("got %d tasks of %+v", len(saved.Tasks), saved.User)
	}
	for _, one := range saved.Tasks {
		if want[one.ID] != one {
			t.Errorf("got %+v, want %+v", one, want[one.ID])
		}
	}
	tab.Click("Delete my data")
	tab.See("A history of changes")
	tab.CheckRules()
	tab.Click("Delete")
	tab.Until("document.querySelector('[data-state=signIn]')")
	p.Do(http.MethodGet, "/api/v1/users/me", nil, 404)
	if kept := browser.Evaluate[[]string](tab, "Object.keys(localStorage)"); len(kept) > 0 {
		t.Errorf("the device keeps %q", kept)
	}
}

// Whoever was deleted elsewhere is asked to become a user again.
func TestDeletedElsewhere(t *testing.T) {
	p := user(t)
	tab := p.open(browser.Options{})
	tab.Excuse("404")
	p.Do(http.MethodDelete, "/api/v1/users/me", nil, 204)
	tab.Show("/account")
	tab.Until("document.querySelector('[data-state=welcome]')")
}
