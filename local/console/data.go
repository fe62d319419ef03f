package console

// What the run holds: items, messages, objects and lakes.

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/onesynth-cdk/onesynth/local/catalog"
	"github.com/onesynth-cdk/onesynth/local/engine"
)

const (
	// mostListed is the default length of a page of folders and objects, and its limit.
	mostListed, limitListed = 200, 1000
	// mostRows is the default number of rows of an answer to SQL, and its limit.
	mostRows, limitRows = 500, 10_000
)

// number reads a parameter that is a whole number, from 1 to most.
func number(r *http.Request, name string, otherwise, most int) (int, error) {
	given := r.URL.Query().Get(name)
	if given == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 || n > most {
		return 0, &Problem{http.StatusBadRequest, fmt.Sprintf("%s: got %q: write a number from 1 to %d", name, given, most)}
	}
	return n, nil
}

func (c *Console) items(r *http.Request) (any, error) {
	most, err := number(r, "limit", engine.DefaultItems, engine.MostItems)
	if err != nil {
		return nil, err
	}
	asked := r.URL.Query()
	return c.options.Cloud.Items(r.Context(), engine.ItemsQuery{
		Table: r.PathValue("name"), Stack: asked.Get("stack"), Index: asked.Get("index"), Partition: asked.Get("partition"), Sort: asked.Get("sort"),
		Text: asked.Get("text"), Most: most, After: asked.Get("after"),
	})
}

// ItemChange is the body of POST /tables/{name}/items.
type ItemChange struct {
	// Stack declares the table, where several accounts or regions have one of the name.
	Stack string `json:"stack,omitempty"`
	// Was is the item as it was read, in DynamoDB's JSON; null adds an item.
	Was map[string]json.RawMessage `json:"was"`
	// Item replaces it, with the same key; null deletes it.
	Item map[string]json.RawMessage `json:"item"`
}

func (c *Console) replaceItem(r *http.Request) (any, error) {
	var change ItemChange
	if err := decode(r, &change); err != nil {
		return nil, err
	}
	return nil, c.options.Cloud.ReplaceItem(r.Context(), r.PathValue("name"), change.Stack, change.Was, change.Item)
}

func noQueue(name string) error {
	return &Problem{http.StatusNotFound, fmt.Sprintf("no queue %q: GET /queues lists them", name)}
}

func (c *Console) queue(r *http.Request) (any, error) {
	most, err := number(r, "limit", 0, limitListed)
	if err != nil {
		return nil, err
	}
	queue, ok := c.options.Cloud.Queue(r.PathValue("name"), most)
	if !ok {
		return nil, noQueue(r.PathValue("name"))
	}
	return queue, nil
}

func (c *Console) message(r *http.Request) (any, error) {
	message, ok := c.options.Cloud.Message(r.PathValue("name"), r.PathValue("id"))
	if !ok {
		return nil, &Problem{http.StatusNotFound, fmt.Sprintf("no message %q in a queue %q", r.PathValue("id"), r.PathValue("name"))}
	}
	return message, nil
}

func (c *Console) again(r *http.Request) (any, error) {
	return c.options.Cloud.Again(r.Context(), r.PathValue("name"), r.PathValue("id"))
}

func (c *Console) dropMessage(r *http.Request) (any, error) {
	return nil, c.options.Cloud.DropMessage(r.PathValue("name"), r.PathValue("id"))
}

func (c *Console) browse(r *http.Request) (any, error) {
	most, err := number(r, "limit", mostListed, limitListed)
	if err != nil {
		return nil, err
	}
	asked := r.URL.Query()
	return c.options.Cloud.Browse(r.PathValue("name"), asked.Get("prefix"), asked.Get("after"), most)
}

func (c *Console) queryLake(r *http.Request) (any, error) {
	var question catalog.Question
	if err := decode(r, &question); err != nil {
		return nil, err
	}
	// The server notices that nobody waits for the answer once it has read the request to its end.
	_, _ = io.Copy(io.Discard, r.Body)
	if c.options.QueryLake == nil {
		return nil, &Problem{http.StatusNotImplemented, "this program has no engine for SQL: the command onesynth has one"}
	}
	switch {
	case question.Most == 0:
		question.Most = mostRows
	case question.Most < 0 || question.Most > limitRows:
		return nil, &Problem{http.StatusBadRequest, fmt.Sprintf("most: got %d: write a number of rows from 1 to %d", question.Most, limitRows)}
	}
	answer, err := c.options.QueryLake(r.Context(), question)
	if err != nil {
		return nil, &Problem{http.StatusBadRequest, err.Error()}
	}
	return answer, nil
}

func (c *Console) push(r *http.Request) (any, error) {
	most, err := number(r, "limit", 0, limitListed)
	if err != nil {
		return nil, err
	}
	messages := c.options.Inbox.Messages()
	if most > 0 {
		messages = messages[max(0, len(messages)-most):]
	}
	return messages, nil
}

func (c *Console) dueMessages(r *http.Request) (any, error) {
	messages, ok := c.options.Cloud.DueMessages(r.PathValue("name"))
	if !ok {
		return nil, noQueue(r.PathValue("name"))
	}
	return map[string]int{"messages": messages}, nil
}
