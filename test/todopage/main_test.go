// Package todopage checks the page of To-Do in a real browser, over a run of its assembly.
//
// Each tab is a person of its own, who has signed in. The tests share the run and the browser.
package todopage

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

var suite = browser.Suite{Options: run.Options{Stacks: []string{"*todo*"}, MaxInstances: 2}, Construct: "Todo"}

func TestMain(m *testing.M) { suite.Main(m) }

func TestBundle(t *testing.T) {
	t.Parallel()
	browser.CheckBundle(t, "../../lambdas/todo/page")
}

// person is someone who keeps tasks, also elsewhere than on the page.
type person struct{ browser.Person }

// someone is a person whom the platform does not know yet.
func someone(t *testing.T) person {
	t.Helper()
	p := person{suite.Someone(t)}
	p.API.IdempotencyKeys = true
	return p
}

// user is a person whom the API knows as a user.
func user(t *testing.T) person {
	t.Helper()
	p := someone(t)
	p.Do(http.MethodPost, "/api/v1/users/me", map[string]any{"email": p.Name + "@example.com", "name": "Ann"}, 201)
	return p
}

// open signs the person in.
func (p person) open(options browser.Options) *browser.Tab {
	p.T.Helper()
	return p.Open(options, ".list")
}

// task is a task as the API has it.
type task struct {
	ID          string `json:"task_id"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Status      string `json:"status"`
	Priority    string `json:"priority"`
	Category    string `json:"category"`
	Due         string `json:"due_date"`
	Version     int    `json:"version"`
}

// has makes a task.
func (p person) has(title string, fields ...string) task {
	p.T.Helper()
	body := map[string]any{"title": title}
	for at := 0; at < len(fields); at += 2 {
		body[fields[at]] = fields[at+1]
	}
	return browser.Read[task](p.Person, http.MethodPost, "/api/v1/tasks", body, 201)
}

func (p person) reads(id string) task {
	p.T.Helper()
	return browser.Read[task](p.Person, http.MethodGet, "/api/v1/tasks/"+id, nil, 200)
}

// tasks are all tasks of the person, the newest first.
func (p person) tasks() []task {
	p.T.Helper()
	type list struct{ Tasks []task }
	return browser.Read[list](p.Person, http.MethodGet, "/api/v1/tasks?limit=100", nil, 200).Tasks
}

// day is so many days from today.
func day(ahead int) string { return time.Now().AddDate(0, 0, ahead).Format(time.DateOnly) }

// row is the row of a task, as a JavaScript expression.
func row(id string) string { return fmt.Sprintf("document.querySelector('[data-task=%q]')", id) }

// titled waits for the row of a task by its title, and returns its id.
func titled(tab *browser.Tab, title string) string {
	one := fmt.Sprintf("[...document.querySelectorAll('.task')].find((one) => "+
		"one.querySelector('.cover').textContent === %q)", title)
	tab.Until(one)
	return browser.Evaluate[string](tab, one+".dataset.task")
}
