package console

// What the run holds: items, objects, lakes and pushed messages.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/onesynth-cdk/onesynth/run/internal/eventsource"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/fcm"
	"github.com/onesynth-cdk/onesynth/run/internal/services/s3"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

const (
	// maxListed is the default length of a page of folders and objects, and its limit.
	maxListed, limitListed = 200, 1000
	// maxRows is the default number of rows of an answer to SQL, and its limit.
	maxRows, limitRows = 500, 10_000
)

// number reads a parameter that is a whole number, from 1 to most.
func number(r *http.Request, name string, otherwise, most int) (int, error) {
	given := r.URL.Query().Get(name)
	if given == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 || n > most {
		return 0, &Problem{http.StatusBadRequest,
			fmt.Sprintf("%s: got %q: write a number from 1 to %d", name, given, most)}
	}
	return n, nil
}

// tableView is a table on the console.
type tableView struct {
	dynamodb.Table
	times
	// ReadUnits and WriteUnits are what functions used of the table and its indexes since the start, or since DELETE
	// /capacity, and Cost is their price on AWS, in US$.
	ReadUnits  float64 `json:"read_units"`
	WriteUnits float64 `json:"write_units"`
	Cost       float64 `json:"cost"`
}

// designView is what a table is, on the console.
type designView struct {
	dynamodb.Design
	times
}

// times are attributes that mean times.
type times struct {
	// Times are the attributes whose numbers are seconds since the Unix epoch: that of the time to live, and those that
	// a lake of the stack has as timestamps.
	Times []string `json:"times,omitempty"`
}

func (c *Console) tables(r *http.Request) ([]tableView, error) {
	tables, err := c.parts.Databases.Tables(r.Context())
	if err != nil {
		return nil, err
	}
	views := []tableView{}
	for _, table := range tables {
		view := tableView{Table: table, times: c.timesOf(table.Design)}
		for _, row := range c.parts.AWS.Capacity() {
			if row.Table == table.Name {
				view.ReadUnits, view.WriteUnits = view.ReadUnits+row.ReadUnits, view.WriteUnits+row.WriteUnits
			}
		}
		view.Cost = trace.PriceOf(view.ReadUnits, view.WriteUnits, 0, 0).DynamoDB / 1e6
		views = append(views, view)
	}
	return views, nil
}

func (c *Console) table(r *http.Request) (designView, error) {
	design, err := c.parts.Databases.Design(r.PathValue("name"), r.URL.Query().Get("stack"))
	return designView{design, c.timesOf(design)}, err
}

func (c *Console) timesOf(table dynamodb.Design) (found times) {
	if table.TimeToLive != "" {
		found.Times = append(found.Times, table.TimeToLive)
	}
	for _, stack := range c.parts.Assembly.Stacks {
		if stack.Name == table.Stack {
			found.Times = append(found.Times, lakeTimes(stack.Metadata)...)
		}
	}
	slices.Sort(found.Times)
	found.Times = slices.Compact(found.Times)
	return found
}

// lakeTimes are the attributes that columns of timestamps are from, according to what the lakes of a stack say of
// themselves in the metadata of its template.
func lakeTimes(metadata map[string]any) (attributes []string) {
	for _, model := range metadata {
		of, _ := model.(map[string]any)
		tables, _ := of["tables"].(map[string]any)
		for _, table := range tables {
			of, _ := table.(map[string]any)
			columns, _ := of["columns"].(map[string]any)
			sources, _ := of["attributes"].(map[string]any)
			for column, kind := range columns {
				if source, ok := sources[column].(string); ok && kind == "timestamp" {
					attributes = append(attributes, source)
				}
			}
		}
	}
	return attributes
}

func (c *Console) items(r *http.Request) (dynamodb.Items, error) {
	most, err := number(r, "limit", dynamodb.DefaultItems, dynamodb.MaxItems)
	if err != nil {
		return dynamodb.Items{}, err
	}
	asked := r.URL.Query()
	return c.parts.Databases.Items(r.Context(), dynamodb.ItemsQuery{
		Table: r.PathValue("name"), Stack: asked.Get("stack"), Index: asked.Get("index"),
		Partition: asked.Get("partition"), Sort: asked.Get("sort"),
		Text: asked.Get("text"), Most: most, After: asked.Get("after"),
	})
}

// OneItem is the answer to GET /tables/{name}/item.
type OneItem struct {
	// Item is in DynamoDB's JSON.
	Item map[string]json.RawMessage `json:"item"`
}

func (c *Console) item(r *http.Request) (OneItem, error) {
	asked := r.URL.Query()
	var key map[string]json.RawMessage
	if err := json.Unmarshal([]byte(asked.Get("key")), &key); err != nil || key == nil {
		return OneItem{}, &Problem{http.StatusBadRequest,
			fmt.Sprintf(`key: got %q: write the item's key in DynamoDB's JSON, such as {"id": {"S": "a"}}`, asked.Get("key"))}
	}
	item, err := c.parts.Databases.Item(r.Context(), r.PathValue("name"), asked.Get("stack"), key)
	return OneItem{item}, err
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

func (c *Console) replaceItem(r *http.Request, change ItemChange) (nothing, error) {
	return nothing{}, c.parts.AWS.DynamoDB.WithoutRequests(func() error {
		return c.parts.Databases.ReplaceItem(r.Context(), r.PathValue("name"), change.Stack, change.Was, change.Item)
	})
}

// Swept is the answer to POST /sweep.
type Swept struct {
	// Deleted is how many items had expired.
	Deleted int `json:"deleted"`
}

func (c *Console) sweep(r *http.Request) (Swept, error) {
	n, err := c.parts.Databases.Sweep(r.Context())
	return Swept{n}, err
}

func (c *Console) flushStreams(r *http.Request) ([]eventsource.Delivery, error) {
	if err := c.parts.Mappings.Flush(r.Context()); err != nil {
		return nil, err
	}
	return c.parts.Mappings.Streams(), nil
}

func (c *Console) objects(r *http.Request) ([]s3.Object, error) {
	return c.parts.Buckets.Objects(r.PathValue("name"), r.URL.Query().Get("prefix"))
}

func (c *Console) browse(r *http.Request) (s3.Page, error) {
	most, err := number(r, "limit", maxListed, limitListed)
	if err != nil {
		return s3.Page{}, err
	}
	asked := r.URL.Query()
	return c.parts.Buckets.Browse(r.PathValue("name"), asked.Get("prefix"), asked.Get("after"), most)
}

// LakeEngine is the answer to GET /lakes/engine.
type LakeEngine struct {
	// Ready is false if the next query has to wait until the engine is built, which takes about a minute, once.
	Ready bool `json:"ready"`
}

func (c *Console) lakeEngine() LakeEngine {
	return LakeEngine{Ready: c.parts.LakeReady == nil || c.parts.LakeReady()}
}

func (c *Console) queryLake(r *http.Request, question catalog.Question) (catalog.Answer, error) {
	if c.parts.QueryLake == nil {
		return catalog.Answer{}, &Problem{http.StatusNotImplemented,
			"this program has no engine for SQL: the command onesynth has one"}
	}
	switch {
	case question.Most == 0:
		question.Most = maxRows
	case question.Most < 0 || question.Most > limitRows:
		return catalog.Answer{}, &Problem{http.StatusBadRequest,
			fmt.Sprintf("most: got %d: write a number of rows from 1 to %d", question.Most, limitRows)}
	}
	answer, err := c.parts.QueryLake(r.Context(), question)
	if err != nil {
		return catalog.Answer{}, &Problem{http.StatusBadRequest, err.Error()}
	}
	return answer, nil
}

func (c *Console) push(r *http.Request) ([]fcm.Message, error) {
	most, err := number(r, "limit", 0, limitListed)
	if err != nil {
		return nil, err
	}
	messages := c.parts.Inbox.Messages()
	if most > 0 {
		messages = messages[max(0, len(messages)-most):]
	}
	return messages, nil
}
