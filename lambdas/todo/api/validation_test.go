package api_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// The key is looked at before the body, and both before the key is claimed.
func TestIdempotencyKeyHeader(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key  string
		want int
	}{
		"None":       {"", 400},
		"Blank":      {" ", 400},
		"One":        {"k", 422},
		"Inside":     {"a key with blanks~", 422},
		"Quoted":     {`"8e03978e-40d5-43dd-bc93-6894a57f9324"`, 422},
		"Longest":    {strings.Repeat("k", 255), 422},
		"TooLong":    {strings.Repeat("k", 256), 400},
		"NotASCII":   {"clé", 400},
		"NotText":    {"a\xff", 400},
		"Control":    {"a\x01b", 400},
		"Delete":     {"a\x7fb", 400},
		"LongRunes":  {strings.Repeat("é", 255), 400},
		"Tabs":       {"a\tb", 400},
		"Underlined": {"__proto__", 422},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range operations() {
				if !isMutation(r) {
					continue
				}
				api := newWire()
				// A wrong query, so that a good key leads to 422 and not further.
				r.line += "?colour=blue"
				r.headers = nil
				if test.key != "" {
					r.headers = []string{"Idempotency-Key: " + strings.TrimSpace(test.key)}
				}
				w := r.do(api)
				if w.Code != test.want || api.keys.begun+api.service.calls != 0 {
					t.Errorf("%s: got %d %s, %d claims", r.line, w.Code, w.Body, api.keys.begun)
				}
				if test.want == 400 && !strings.HasPrefix(detail(t, w), "Idempotency-Key: ") {
					t.Errorf("%s: got %s", r.line, w.Body)
				}
				r.body = "{"
				if w := r.do(api); test.want == 400 && !strings.HasPrefix(detail(t, w), "Idempotency-Key: ") {
					t.Errorf("%s: the body comes first: %s", r.line, w.Body)
				}
			}
		})
	}
}

// A body that cannot be read is 400 or 415, and claims no key.
func TestUnreadableBodies(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body, contentType string
		status            int
	}{
		"None":         {body: "", status: 400},
		"NotJSON":      {body: "{", status: 400},
		"Twice":        {body: `{"title":"x"}{}`, status: 400},
		"Repeated":     {body: `{"title":"x","title":"y"}`, status: 400},
		"RepeatedDeep": {body: `{"title":"x","category":[{"a":1,"b":[],"a":2}]}`, status: 400},
		"NotUTF8":      {body: "{\"title\":\"\xff\"}", status: 400},
		"Mark":         {body: "\xef\xbb\xbf{}", status: 400},
		"Form":         {body: "title=x", contentType: "application/x-www-form-urlencoded", status: 415},
		"Text":         {body: `{"title":"x"}`, contentType: "text/plain", status: 415},
		"Multipart":    {body: "--x--", contentType: "multipart/form-data; boundary=x", status: 415},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range operations() {
				if r.body == "" {
					continue
				}
				api := newWire()
				r.body = test.body
				if test.contentType != "" {
					r = r.with("Content-Type: " + test.contentType)
				}
				w := r.do(api)
				if w.Code != test.status || api.keys.begun+api.service.calls != 0 {
					t.Errorf("%s: got %d %s", r.line, w.Code, w.Body)
				}
				detail(t, w)
			}
		})
	}
	for _, contentType := range []string{"application/json; charset=utf-8", "Application/JSON"} {
		r := as("ann", "POST /api/v1/tasks", `{"title":"x"}`).with("Content-Type: " + contentType)
		if w := r.do(newWire()); w.Code != 201 {
			t.Errorf("%s: got %d %s", contentType, w.Code, w.Body)
		}
	}
}

// Each rule of a body is reported with its field, all at once, and before a key is
// claimed. Lengths are characters.
func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	const post, put, patch, bulk, user = "POST /api/v1/tasks", "PUT /api/v1/tasks/x", "PATCH /api/v1/tasks/x", "POST /api/v1/tasks/bulk", "POST /api/v1/users/me"
	wide := func(n int) string { return strings.Repeat("Ω", n) }
	ids := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, `"`+strings.Repeat("i", i+1)+`"`)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	for name, test := range map[string]struct {
		lines []string
		body  string
		want  string // the fields; "": all is well
	}{
		"NotAnObject":  {[]string{post, put, patch, bulk, user}, `[]`, "body"},
		"Null":         {[]string{post, put, patch, bulk, user}, `null`, "body"},
		"Text":         {[]string{post, put, patch, bulk, user}, `"title"`, "body"},
		"Empty":        {[]string{post, put}, `{}`, "title"},
		"EmptyUser":    {[]string{user, "PUT /api/v1/users/me"}, `{}`, "email name"},
		"EmptyBulk":    {[]string{bulk}, `{}`, "action"},
		"EmptyChange":  {[]string{patch}, `{}`, ""},
		"Unknown":      {[]string{post, put, patch}, `{"title":"x","colour":"blue"}`, "colour"},
		"UnknownCase":  {[]string{post, put, patch}, `{"title":"x","Status":"pending"}`, "Status"},
		"UnknownUser":  {[]string{user}, `{"email":"a@example.com","name":"x","user_id":"y"}`, "user_id"},
		"UnknownBulk":  {[]string{bulk}, `{"action":"delete_completed","all":true}`, "all"},
		"ReadOnly":     {[]string{post, put, patch}, `{"title":"x","version":1}`, "version"},
		"Everything":   {[]string{post, put, patch}, `{"title":"","description":1,"status":"open","priority":"none","category":"` + wide(51) + `","due_date":"tomorrow","x":null}`, "x title description status priority category due_date"},
		"Types":        {[]string{post, put, patch}, `{"title":1,"description":{},"status":[],"priority":true,"category":1.5,"due_date":20260214}`, "title description status priority category due_date"},
		"Rules":        {[]string{post, put, patch}, `{"title":"   ","due_date":"2026-02-30"}`, "title due_date"},
		"RuleAndType":  {[]string{post, put, patch}, `{"title":7,"due_date":"2026-02-30"}`, "title due_date"},
		"NullTitle":    {[]string{post, put, patch}, `{"title":null}`, "title"},
		"NullStatus":   {[]string{patch}, `{"status":null}`, "status"},
		"EmptyStatus":  {[]string{post, put, patch}, `{"title":"x","status":""}`, "status"},
		"NullOthers":   {[]string{post, put, patch}, `{"title":"x","description":null,"priority":null,"category":null,"due_date":null}`, ""},
		"EmptyOthers":  {[]string{post, put, patch}, `{"title":"x","description":"","priority":"","category":"","due_date":""}`, ""},
		"Shortest":     {[]string{post, put, patch}, `{"title":"Ω"}`, ""},
		"Longest":      {[]string{post, put, patch}, `{"title":"` + wide(200) + `","description":"` + wide(1000) + `","category":"` + wide(50) + `","due_date":"2028-02-29"}`, ""},
		"TooLong":      {[]string{post, put, patch}, `{"title":"` + wide(201) + `","description":"` + wide(1001) + `","category":"` + wide(51) + `"}`, "title description category"},
		"Emoji":        {[]string{post, put, patch}, `{"title":"` + strings.Repeat("🪴", 200) + `","category":"#%/ ` + strings.Repeat("🪴", 46) + `"}`, ""},
		"DateForm":     {[]string{post, put, patch}, `{"title":"x","due_date":"2026-2-3"}`, "due_date"},
		"DateTime":     {[]string{post, put, patch}, `{"title":"x","due_date":"2026-02-03T00:00:00Z"}`, "due_date"},
		"Nul":          {[]string{post, put, patch}, `{"title":"a\u0000b"}`, "title"},
		"Email":        {[]string{user}, `{"email":"Ann <ann@example.com>","name":"Ann"}`, "email"},
		"EmailLongest": {[]string{user}, `{"email":"` + strings.Repeat("a", 64) + "@" + strings.Repeat(strings.Repeat("b", 61)+".", 3) + `com","name":"` + wide(100) + `"}`, ""},
		"EmailTooLong": {[]string{user}, `{"email":"` + strings.Repeat("a", 64) + "@" + strings.Repeat(strings.Repeat("b", 61)+".", 3) + `combo","name":"` + wide(101) + `"}`, "email name"},
		"NoEmail":      {[]string{user}, `{"email":"ann","name":" "}`, "email name"},
		"Action":       {[]string{bulk}, `{"action":"delete_all"}`, "action"},
		"SetNothing":   {[]string{bulk}, `{"action":"set_status"}`, "task_ids status"},
		"SetNull":      {[]string{bulk}, `{"action":"set_status","task_ids":null,"status":null}`, "task_ids status"},
		"SetNone":      {[]string{bulk}, `{"action":"set_status","task_ids":[],"status":"pending"}`, "task_ids"},
		"SetMost":      {[]string{bulk}, `{"action":"set_status","status":"pending","task_ids":` + ids(50) + `}`, ""},
		"SetTooMany":   {[]string{bulk}, `{"action":"set_status","status":"pending","task_ids":` + ids(51) + `}`, "task_ids"},
		"SetTwice":     {[]string{bulk}, `{"action":"set_status","status":"pending","task_ids":["a","b","a"]}`, "task_ids[2]"},
		"SetNumbers":   {[]string{bulk}, `{"action":"set_status","status":"pending","task_ids":[1]}`, "task_ids[0]"},
		"SetStatus":    {[]string{bulk}, `{"action":"set_status","status":"done","task_ids":["a"]}`, "status"},
		"DeleteSome":   {[]string{bulk}, `{"action":"delete_completed","task_ids":["a"],"status":"completed"}`, "task_ids status"},
		"Delete":       {[]string{bulk}, `{"action":"delete_completed","task_ids":null}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, line := range test.lines {
				api := newWire()
				w := as("ann", line, test.body).do(api)
				if test.want == "" {
					if w.Code >= 400 || api.service.calls != 1 {
						t.Errorf("%s: got %d %s", line, w.Code, w.Body)
					}
					continue
				}
				got := strings.Fields(invalidFields(t, w))
				want := strings.Fields(test.want)
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("%s: got %s; want the fields %s", line, w.Body, want)
				}
				if api.keys.begun+api.service.calls != 0 {
					t.Errorf("%s: claimed %d, called %d", line, api.keys.begun, api.service.calls)
				}
			}
		})
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"": "",
		"status=pending&priority=low&sort=due_date&limit=1&overdue=true&q=x&category=%23%25&due_from=2026-02-01&due_to=2026-02-01": "",
		"limit=100":     "",
		"overdue=false": "",
		"category=a+b":  "",
		"q=" + strings.Repeat("%F0%9F%AA%B4", 200): "",
		"limit=0":                               "limit",
		"limit=101":                             "limit",
		"limit=-1":                              "limit",
		"limit=1.0":                             "limit",
		"limit=ten":                             "limit",
		"limit=99999999999999999999":            "limit",
		"status=done":                           "status",
		"status=Pending":                        "status",
		"priority=none":                         "priority",
		"sort=title":                            "sort",
		"overdue=1":                             "overdue",
		"overdue=TRUE":                          "overdue",
		"due_from=2026-02-30":                   "due_from",
		"due_to=tomorrow":                       "due_to",
		"due_from=2026-02-02&due_to=2026-02-01": "due_to",
		"category=" + strings.Repeat("x", 51):   "category",
		"q=" + strings.Repeat("x", 201):         "q",
		"q=%00":                                 "q",
		"q=%ff":                                 "q",
		"colour=blue":                           "colour",
		"Status=pending":                        "Status",
		"status=":                               "status",
		"q":                                     "q",
		"status=pending&status=pending":         "status",
		"limit=0&status=done&priority=x&sort=x&overdue=x&due_from=x&due_to=x&x=1": "due_from due_to limit overdue priority sort status x",
	} {
		api := newWire()
		w := as("ann", "GET /api/v1/tasks?"+query, "").do(api)
		if want == "" {
			if w.Code != 200 || api.service.calls != 1 {
				t.Errorf("%s: got %d %s", query, w.Code, w.Body)
			}
			continue
		}
		got := strings.Fields(invalidFields(t, w))
		slices.Sort(got)
		if strings.Join(got, " ") != want || api.service.calls != 0 {
			t.Errorf("%s: got %s; want %s", query, w.Body, want)
		}
	}
	for _, r := range operations() {
		api := newWire()
		r.line += "?colour=blue"
		if got := invalidFields(t, r.do(api)); got != "colour" || api.service.calls+api.keys.begun != 0 {
			t.Errorf("%s: got %s", r.line, got)
		}
		r.line = strings.TrimSuffix(r.line, "colour=blue") + "x=%zz"
		if w := r.do(api); w.Code != 400 && w.Code != 422 || api.service.calls+api.keys.begun != 0 {
			t.Errorf("%s: got %d %s", r.line, w.Code, w.Body)
		}
	}
}

// One answer names what is wrong with the query and with the body.
func TestQueryAndBody(t *testing.T) {
	t.Parallel()
	if got := invalidFields(t, as("ann", "POST /api/v1/tasks?x=1", `{"due_date":"x"}`).do(newWire())); got != "due_date title x" {
		t.Errorf("got %s", got)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	api := newWire()
	w := as("ann", "GET /api/v1/tasks?status=pending&priority=low&sort=due_date&limit=7&overdue=true&q=+x&category=a%23b&due_from=2026-02-01&due_to=2026-02-03&cursor=c", "").with("X-Timezone: Asia/Tokyo").do(api)
	if w.Code != 200 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	got := api.service.filter
	if got.Zone.String() != tokyo.String() {
		t.Errorf("the zone is %s", got.Zone)
	}
	got.Zone = nil
	if want := (todo.TaskFilter{
		Status: todo.Pending, Priority: todo.Low, Category: "a#b", DueFrom: "2026-02-01", DueTo: "2026-02-03", Overdue: true,
		Search: " x", Sort: todo.ByDueDate, Limit: 7, Cursor: "c",
	}); got != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
	api = newWire()
	if w := as("ann", "GET /api/v1/tasks", "").do(api); w.Code != 200 || api.service.filter.Zone != time.UTC || api.service.filter.Limit != 20 {
		t.Errorf("got %d, %+v", w.Code, api.service.filter)
	}
	if strings.TrimSpace(w.Body.String()) != `{"tasks":[],"next_cursor":null}` {
		t.Errorf("got %s", w.Body)
	}
	for _, zone := range []string{"Local", "../zone", "Mars/Olympus", strings.Repeat("z", 65), "Europe/Berlin, UTC"} {
		if got := invalidFields(t, as("ann", "GET /api/v1/tasks?limit=0", "").with("X-Timezone: "+zone).do(newWire())); !strings.Contains(got, "limit") || !strings.Contains(got, "X-Timezone") {
			t.Errorf("%s: got %s", zone, got)
		}
	}
}

// A field that is left out stays, one that is null or "" is cleared.
func TestChange(t *testing.T) {
	t.Parallel()
	set := func(c todo.TaskChange) (fields []string) {
		for name, value := range map[string]*string{
			"title": c.Title, "description": c.Description, "category": c.Category,
			"status": (*string)(c.Status), "priority": (*string)(c.Priority), "due_date": (*string)(c.DueDate),
		} {
			if value != nil {
				fields = append(fields, name+"="+*value)
			}
		}
		slices.Sort(fields)
		return fields
	}
	for body, want := range map[string]string{
		`{}`:                                 "",
		`{"title":"x"}`:                      "title=x",
		`{"status":"completed"}`:             "status=completed",
		`{"description":null,"category":""}`: "category= description=",
		`{"priority":null,"due_date":null}`:  "due_date= priority=",
		`{"priority":"low","due_date":"2026-02-14","description":" "}`: "description=  due_date=2026-02-14 priority=low",
	} {
		api := newWire()
		if w := as("ann", "PATCH /api/v1/tasks/x", body).do(api); w.Code != 200 {
			t.Errorf("%s: got %d %s", body, w.Code, w.Body)
		}
		if got := strings.Join(set(api.service.change), " "); got != want {
			t.Errorf("%s: got %q; want %q", body, got, want)
		}
	}
}

// If-Match as RFC 9110 has it: a list of strong tags; one match is enough.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]struct {
		status   int
		versions string
	}{
		"":                         {200, "0"},
		"*":                        {200, "0"},
		` * `:                      {200, "0"},
		`"3"`:                      {200, "3"},
		`  "3"	`:                   {200, "3"},
		`"2"`:                      {412, "2"},
		`"2", "3"`:                 {200, "2 3"},
		`"2","3"`:                  {200, "2 3"},
		`"3", "2"`:                 {200, "3"},
		`"1" , "2",, "4",`:         {412, "1"},
		`,"3"`:                     {200, "3"},
		`W/"3"`:                    {412, "-1"},
		`W/"3", "3"`:               {200, "3"},
		`"abc"`:                    {412, "-1"},
		`"a,b", "3"`:               {200, "3"},
		`""`:                       {412, "-1"},
		`"03"`:                     {412, "-1"},
		`"+3"`:                     {412, "-1"},
		`"0"`:                      {412, "-1"},
		`"-1"`:                     {412, "-1"},
		`"99999999999999999"`:      {412, "99999999999999999"},
		`"9999999999999999999999"`: {412, "-1"},
		`3`:                        {400, ""},
		`"3`:                       {400, ""},
		`3"`:                       {400, ""},
		`"3" "2"`:                  {400, ""},
		`"3";"2"`:                  {400, ""},
		`w/"3"`:                    {400, ""},
		`W/3`:                      {400, ""},
		`W/ "3"`:                   {400, ""},
		`*, "3"`:                   {400, ""},
		`"3", *`:                   {400, ""},
		`" 3"`:                     {400, ""},
		`,`:                        {400, ""},
		`'3'`:                      {400, ""},
	} {
		for _, r := range []request{
			as("ann", "PUT /api/v1/tasks/x", `{"title":"x"}`),
			as("ann", "PATCH /api/v1/tasks/x", `{"title":"x"}`),
			as("ann", "DELETE /api/v1/tasks/x", ""),
		} {
			api := newWire()
			w := r.with("If-Match: " + header).do(api)
			var versions []string
			for _, v := range api.service.versions {
				versions = append(versions, strconv.Itoa(v))
			}
			status := want.status
			if strings.HasPrefix(r.line, "DELETE") && status == 200 {
				status = http.StatusNoContent
			}
			if w.Code != status || strings.Join(versions, " ") != want.versions {
				t.Errorf("%s with %s: got %d %s, asked for versions %v; want %d, %s", r.line, header, w.Code, w.Body, versions, status, want.versions)
			}
			if status == 400 && (api.keys.begun != 0 || !strings.HasPrefix(detail(t, w), "If-Match: ")) {
				t.Errorf("%s with %s: got %s, %d claims", r.line, header, w.Body, api.keys.begun)
			}
		}
	}
	// Elsewhere the header says nothing.
	if w := as("ann", "POST /api/v1/tasks", `{"title":"x"}`).with("If-Match: nonsense").do(newWire()); w.Code != 201 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
