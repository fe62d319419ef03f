package console

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/chromedp/kb"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// quietTables are the tables of the run whose changes invoke no function, and whose keys are texts. The first is of all
// tests, and the last has many items.
func quietTables(t *testing.T, runner *run.Runner) (quiet []runtest.Table) {
	t.Helper()
	tables := must.Get(runtest.Of(runner).Tables(t.Context()))(t)
	for _, table := range tables {
		texts := true
		for _, key := range table.Keys {
			texts = texts && key.Type == "S"
		}
		if !table.Streamed && texts {
			quiet = append(quiet, table)
		}
	}
	if len(quiet) < 2 {
		t.Fatalf("got %v, want two tables without a stream whose keys are texts", quiet)
	}
	return quiet
}

// item makes an item of the table whose keys all begin with the text.
func item(table runtest.Table, key string, attributes map[string]string) map[string]types.AttributeValue {
	made := map[string]types.AttributeValue{}
	for name, value := range attributes {
		made[name] = &types.AttributeValueMemberS{Value: value}
	}
	for _, part := range table.Keys {
		made[part.Attribute] = &types.AttributeValueMemberS{Value: key}
	}
	return made
}

func put(t *testing.T, runner *run.Runner, table runtest.Table, made map[string]types.AttributeValue) {
	t.Helper()
	must.Get(runner.DynamoDB().PutItem(t.Context(),
		&dynamodb.PutItemInput{TableName: &table.Name, Item: made}))(t)
}

// stored is an attribute of the item with the key; it is empty if there is none.
func stored(t *testing.T, runner *run.Runner, table runtest.Table, key, attribute string) string {
	t.Helper()
	got := must.Get(runner.DynamoDB().GetItem(t.Context(),
		&dynamodb.GetItemInput{TableName: &table.Name, Key: item(table, key, nil), ConsistentRead: aws.Bool(true)}))(t)
	value, _ := got.Item[attribute].(*types.AttributeValueMemberS)
	if value == nil {
		return ""
	}
	return value.Value
}

func tableView(table runtest.Table, parameters string) string {
	return "#/tables/" + url.PathEscape(table.Name) + "?stack=" + url.QueryEscape(table.Stack) + parameters
}

// itemView is the address of an item.
func itemView(t *testing.T, table runtest.Table, key string) string {
	t.Helper()
	parts := map[string]map[string]string{}
	for _, part := range table.Keys {
		parts[part.Attribute] = map[string]string{"S": key}
	}
	text := must.Get(json.Marshal(parts))(t)
	return "#/tables/" + url.PathEscape(table.Name) + "/item?" +
		url.Values{"stack": {table.Stack}, "key": {string(text)}}.Encode()
}

// An item has an address, which is copied from it, and leads to it in another tab.
func TestItemAddress(t *testing.T) {
	runner, _ := suite.Start(t)
	table := quietTables(t, runner)[0]
	const key = "shared/<b>?&#+ü"
	put(t, runner, table, item(table, key, map[string]string{"note": "to be shared"}))
	_, tab := open(t, tableView(table, "&partition="+url.QueryEscape(key)), browser.Options{})
	tab.Click(strings.Join(slices.Repeat([]string{key}, len(table.Keys)), " / "))
	browser.Evaluate[bool](tab,
		"navigator.clipboard.writeText = async (text) => { window.copied = text; }, true")
	tab.Click("Copy link")
	tab.Until("window.copied")
	copied := browser.Evaluate[string](tab, "window.copied")
	opens := browser.Evaluate[string](tab, "document.querySelector('dialog a[target=_blank]').href")
	if opens != copied {
		t.Errorf("got the links %s and %s", copied, opens)
	}
	_, view, _ := strings.Cut(copied, "/#")
	_, other := open(t, "#"+view, browser.Options{})
	other.Until("document.querySelector('textarea').value.includes('to be shared')")
	if got := other.Text("h1"); !strings.HasPrefix(got, key) {
		t.Errorf("got the heading %s", got)
	}
	browser.Evaluate[bool](other, "(() => { const text = document.querySelector('textarea'); "+
		"text.value = text.value.replace('to be', 'has been'); return true; })()")
	other.Click("Save")
	other.See("The item is changed")
	if got := stored(t, runner, table, key, "note"); got != "has been shared" {
		t.Errorf("got %q", got)
	}
	other.Click("Delete")
	other.Click("Delete the item?")
	shown(other, "#/tables/"+url.PathEscape(table.Name)+"?stack="+url.QueryEscape(table.Stack))
	other.Excuse("404")
	goTo(other, "#"+view)
	other.See("no such item")
	other.Excuse("400")
	goTo(other, "#/tables/"+url.PathEscape(table.Name)+"/item")
	other.See("it lacks " + table.Keys[0].Attribute)
}

// An address that names nothing says so, and leads on.
func TestWrongAddress(t *testing.T) {
	runner, tab := open(t, "", browser.Options{})
	tab.Excuse("404")
	table := quietTables(t, runner)[0]
	for _, view := range []string{"#/nowhere", "#/faults/x", "#/tables/none", "#/functions/none", "#/queues/none",
		"#/requests/none", "#/buckets/none", "#/%E0%A4%A", "#/tables/" + url.PathEscape(table.Name) + "/nothing",
		"#/tables/" + url.PathEscape(table.Name) + "/item/further",
		"#/tables/" + url.PathEscape(table.Name) + "?stack=none"} {
		goTo(tab, view)
		if heading := tab.Text("h1"); heading != "Not found" {
			t.Errorf("%s: got %s", view, heading)
		}
		if text := tab.Text("main"); !strings.Contains(text, view) || !strings.Contains(text, "Log lines") {
			t.Errorf("%s: got %s", view, text)
		}
	}
	// The server has no such address, either.
	browser.Evaluate[bool](tab, "(location.href = '/nowhere/else#/tables', true)")
	tab.Until("document.body?.innerText.includes('The address asks for /nowhere/else.')")
	browser.Evaluate[bool](tab, "document.querySelector('main a[href=\"/#/faults\"]').click(), true")
	tab.Until("location.pathname === '/' && document.querySelector('h1')?.innerText === 'Faults'")
}

func TestEditItem(t *testing.T) {
	runner, _ := suite.Start(t)
	table := quietTables(t, runner)[0]
	for _, key := range []string{"edit-1", "edit-2", "edit-3"} {
		put(t, runner, table, item(table, key, map[string]string{"note": "the note of " + key}))
	}
	_, tab := open(t, tableView(table, "&text=edit-"), browser.Options{})
	edited := func(key, note string) string {
		plain := map[string]string{"note": note}
		for _, part := range table.Keys {
			plain[part.Attribute] = key
		}
		text := must.Get(json.Marshal(plain))(t)
		return string(text)
	}
	change := func(key, note string) {
		tab.Click(key)
		tab.Fill("Item as JSON", edited(key, note))
		tab.Click("Save")
	}
	change("edit-1", "a newer note")
	tab.See("a newer note")
	if got := stored(t, runner, table, "edit-1", "note"); got != "a newer note" {
		t.Errorf("got %q", got)
	}

	// Another has changed the item since the page read it.
	put(t, runner, table, item(table, "edit-2", map[string]string{"note": "changed by another"}))
	tab.Excuse("409")
	change("edit-2", "changed here")
	tab.See("has changed since it was read")
	if got := stored(t, runner, table, "edit-2", "note"); got != "changed by another" {
		t.Errorf("got %q", got)
	}
	tab.Fill("Item as JSON", "{")
	tab.Click("Save")
	tab.See("The text is not JSON")
	tab.Excuse("400")
	tab.Fill("Item as JSON", `{"note": "without a key"}`)
	tab.Click("Save")
	tab.See("of the table's key")
	tab.Click("Close")

	// What plain JSON cannot hold is edited with its types.
	put(t, runner, table, map[string]types.AttributeValue{
		table.Keys[0].Attribute:                 &types.AttributeValueMemberS{Value: "edit-4"},
		table.Keys[len(table.Keys)-1].Attribute: &types.AttributeValueMemberS{Value: "edit-4"},
		"large":                                 &types.AttributeValueMemberN{Value: "12345678901234567890.5"},
		"bytes":                                 &types.AttributeValueMemberB{Value: []byte{0, 255}},
	})
	tab.Click("Read again")
	tab.Until("document.querySelector('main table').innerText.includes('12345678901234567890.5')")
	tab.Click("edit-4")
	if text := browser.Evaluate[string](tab, "document.querySelector('dialog textarea').value"); !strings.Contains(text,
		`"12345678901234567890.5"`) || !strings.Contains(text, `"B"`) {
		t.Errorf("got %s", text)
	}
	tab.Click("Close")

	tab.Click("edit-3")
	tab.Click("Delete")
	tab.Click("Delete the item?")
	tab.Until("!document.querySelector('dialog') && !document.querySelector('main table').innerText.includes('edit-3')")
	if got := stored(t, runner, table, "edit-3", "note"); got != "" {
		t.Errorf("the item is still there: %q", got)
	}
	tab.Click("Add an item")
	tab.Fill("Item as JSON", edited("edit-5", "a new one"))
	tab.Click("Add")
	tab.See("a new one")
	if got := stored(t, runner, table, "edit-5", "note"); got != "a new one" {
		t.Errorf("got %q", got)
	}
}

func TestFilterItems(t *testing.T) {
	runner, _ := suite.Start(t)
	table := quietTables(t, runner)[0]
	for i := range 60 {
		put(t, runner, table, item(table, fmt.Sprintf("filter-%02d", i),
			map[string]string{"note": fmt.Sprintf("note %02d", i)}))
	}
	_, tab := open(t, tableView(table, ""), browser.Options{})
	tab.Fill("Text", "note 4")
	tab.Click("Filter")
	tab.Until("document.querySelectorAll('main tbody tr').length === 10")
	tab.Fill("Text", "filter-")
	tab.Click("Filter")
	tab.Until("document.querySelectorAll('main tbody tr').length === 50")
	tab.Click("Next page")
	tab.Until("document.querySelectorAll('main tbody tr').length === 10")
	tab.Click("Previous page")
	tab.Until("document.querySelectorAll('main tbody tr').length === 50")
	tab.Fill("Text", "")
	tab.Fill(table.Keys[0].Attribute+" is", "filter-07")
	tab.Click("Filter")
	tab.Until("document.querySelectorAll('main tbody tr').length === 1")
	if text := tab.Text("main table"); !strings.Contains(text, "note 07") {
		t.Errorf("got %s", text)
	}
}

// A number that the schema calls a time has the time beside it, in the list and in an item: the time to live, and what a
// lake has as a timestamp. Another number has none, however much it looks like one. (The run deletes what has expired.)
func TestTimesOfItems(t *testing.T) {
	runner, _ := suite.Start(t)
	tables := must.Get(runtest.Of(runner).Tables(t.Context()))(t)
	at := slices.IndexFunc(tables, func(one runtest.Table) bool { return strings.Contains(one.Stack, "todo") })
	table := tables[at]
	made := item(table, "times", nil)
	for _, name := range []string{table.TimeToLive, "created_at", "unrelated"} {
		made[name] = &types.AttributeValueMemberN{Value: "1900000000"}
	}
	put(t, runner, table, made)
	_, tab := open(t, tableView(table, "&partition=times"), browser.Options{})
	check := func(where string) {
		times := browser.Evaluate[[]string](tab,
			"[...document.querySelectorAll('"+where+" time')].map((one) => one.dateTime)")
		if want := "2030-03-17T17:46:40.000Z"; !slices.Equal(times, []string{want, want}) {
			t.Errorf("%s: got the times %q", where, times)
		}
	}
	check("main table")
	tab.Click("times / times")
	check("dialog")
	tab.Until("document.querySelector('dialog textarea').value.includes('\"unrelated\": 1900000000')")
}

func TestRunSchedule(t *testing.T) {
	runner, tab := open(t, "#/schedules", browser.Options{})
	schedule := runtest.Of(runner).Schedules()[0]
	tab.Click("Run now")
	tab.See(schedule.Name + " has run")
	if failed := tab.Text("main li a.bad"); failed != "" {
		t.Errorf("got the failure %s", failed)
	}
	if after := runtest.Of(runner).Schedules()[0]; after.Fired != schedule.Fired+1 || after.LastError != "" {
		t.Errorf("got %+v", after)
	}
}

func TestSwitchFaults(t *testing.T) {
	runner, tab := open(t, "#/faults", browser.Options{})
	defer func() {
		if err := runtest.Of(runner).SetFaults(runtest.Faults{}); err != nil {
			t.Error(err)
		}
	}()
	tab.Click("Turn on (10 %)")
	tab.See("On: redeliver.")
	if faults := runtest.Of(runner).Faults(); faults.Redeliver != 0.1 {
		t.Errorf("got %+v", faults)
	}
	browser.Evaluate[bool](tab,
		`(() => { const slider = document.querySelector('input[type=range]'); slider.value = 50; slider.dispatchEvent(new Event('input')); slider.dispatchEvent(new Event('change')); return true; })()`)
	tab.See("On: throttle, redeliver.")
	if faults := runtest.Of(runner).Faults(); faults.Throttle != 0.13 { // half of the way, to the third power
		t.Errorf("got %+v", faults)
	}
	// The banner is there at once. A hidden page does not look by itself.
	const hide = "(Object.defineProperty(document, 'hidden', {configurable: true, get: () => %t}), true)"
	browser.Evaluate[bool](tab, fmt.Sprintf(hide, true))
	browser.Evaluate[bool](tab, "document.querySelector('[data-key=hang]').click(), true")
	tab.See("Faults are on: throttle, hang, redeliver")
	browser.Evaluate[bool](tab, "document.querySelector('main [data-key=hang]').click(), true")
	tab.See("Faults are on: throttle, redeliver")
	browser.Evaluate[bool](tab, fmt.Sprintf(hide, false))
	// The menu and a banner say so in every view.
	browser.Evaluate[bool](tab, "(location.hash = '#/tables', true)")
	tab.See("Faults are on: throttle, redeliver")
	tab.Until("document.querySelector('[data-view=faults] .count')?.textContent === '2 on'")
	tab.Click("Turn off")
	tab.Until("document.getElementById('faulty').hidden && !document.querySelector('[data-view=faults] .count')")
	if faults := runtest.Of(runner).Faults(); faults != (runtest.Faults{}) {
		t.Errorf("got %+v", faults)
	}
	browser.Evaluate[bool](tab, "(location.hash = '#/faults', true)")
	tab.Click("Turn on (10 %)")
	tab.See("On: redeliver.")
	tab.Click("Turn all off")
	tab.See("All faults are off.")
	if faults := runtest.Of(runner).Faults(); faults != (runtest.Faults{}) {
		t.Errorf("got %+v", faults)
	}
}

// A schedule that failed has one line, which leads to its trace, and the menu counts it.
func TestFailedSchedule(t *testing.T) {
	runner, tab := open(t, "#/schedules", browser.Options{})
	schedule := runtest.Of(runner).Schedules()[0]
	// Its function gets no answer from a service that it needs.
	must.OK(t, runtest.Of(runner).SetFaults(runtest.Faults{Throttle: 1}))
	tab.Excuse("502")
	tab.Click("Run now")
	tab.Until("document.querySelector('main li a.bad')")
	must.OK(t, runtest.Of(runner).SetFaults(runtest.Faults{}))
	tab.Until("document.querySelector('[data-view=schedules] .count')?.textContent === '1 failed'")
	browser.Evaluate[bool](tab, "document.querySelector('main li a.bad').click(), true")
	tab.Until("document.querySelector('main .problem') && location.hash.startsWith('#/requests/')")
	goTo(tab, "#/schedules")
	tab.Click("Run now")
	tab.See(schedule.Name + " has run")
	tab.Until("!document.querySelector('[data-view=schedules] .count')")
}

// The permissions for its logs, which every function has, are one line.
func TestPermissionsOfLogs(t *testing.T) {
	runner, _ := suite.Start(t)
	name := runtest.Of(runner).Functions()[0].Name
	_, tab := open(t, "#/permissions?function="+url.QueryEscape(name), browser.Options{})
	tab.Until("document.querySelector('main details[open] table')")
	if text := tab.Text("main details[open]"); strings.Contains(text, "logs:") {
		t.Errorf("got the open rows %s", text)
	}
	browser.Evaluate[bool](tab, "document.querySelector('main details[open] details summary').click(), true")
	tab.See("logs:")
}

// A failed message is done again, and stays in the queue until that succeeds.
// A function whose calls were refused stands first, and is open.
func TestRefusedPermissions(t *testing.T) {
	_, tab := open(t, "", browser.Options{})
	browser.Evaluate[bool](tab, `(() => {
		const real = fetch;
		window.fetch = async (path, options) => {
			const answer = await real(path, options);
			if (path !== '/permissions') return answer;
			const all = await answer.json();
			all.at(-1).refused = [{action: 'dynamodb:Scan', resource: 'arn:aws:dynamodb:::table/refused', times: 3}];
			return Response.json(all);
		};
		return true;
	})()`)
	goTo(tab, "#/permissions")
	if got := tab.Text("main details"); !strings.Contains(got, "1 refused") || !strings.Contains(got, "dynamodb:Scan") {
		t.Errorf("the first is %q", got)
	}
}

func TestFailedMessageAgain(t *testing.T) {
	runner, _ := suite.Start(t)
	on := runtest.Of(runner)
	queue, schedule := on.Queues()[0], on.Schedules()[0]
	purge := func() {
		t.Helper()
		must.OK(t, on.Purge(queue))
	}
	send := func(body string, attributes map[string]string) {
		t.Helper()
		must.OK(t, on.Send(queue, body, attributes))
	}
	purge()
	failed := func(target, event string) {
		send(event, map[string]string{"SCHEDULE_ARN": "arn:aws:scheduler:::schedule/" + schedule.Name,
			"TARGET_ARN": target, "RETRY_ATTEMPTS": "2", "ERROR_MESSAGE": "it was <b>throttled</b>"})
	}
	failed(schedule.Target, `{"version": "0"}`)
	_, tab := open(t, "#/queues/"+url.PathEscape(queue), browser.Options{})
	tab.See("Tried 3 times. it was <b>throttled</b>")
	name := schedule.Target[strings.LastIndexByte(schedule.Target, ':')+1:]
	tab.See("invoke " + name + " with the event")
	tab.Until("document.querySelector('[data-view=queues] .count')?.textContent === '1 dead-lettered'")
	tab.Click("Again")
	tab.See("The queue is empty.")
	if messages := on.AllMessages()[queue]; len(messages) > 0 {
		t.Errorf("got %+v", messages)
	}

	tab.Excuse("404")
	failed("arn:aws:lambda:us-east-1:000000000000:function:gone", `{"version": "0"}`)
	tab.See("invoke gone with the event")
	tab.Click("Again")
	tab.See("the message stays in the queue: no such function")
	if messages := on.AllMessages()[queue]; len(messages) != 1 {
		t.Errorf("got %+v", messages)
	}
	purge()
	send(`{"orders": "of someone else"}`, nil)
	tab.See("It cannot be done again: the message does not say what failed")
	tab.Click("Remove")
	tab.Click("Remove it for good?")
	tab.See("The queue is empty.")
}

func TestSQL(t *testing.T) {
	_, tab := open(t, "#/lake", browser.Options{})
	tab.Fill("SQL",
		`SELECT * FROM (VALUES (DATE '2026-01-01', 3, 'a'), (DATE '2026-01-02', 7, '<img src=x onerror=alert(1)>'), (DATE '2026-01-03', 5, NULL)) AS t(day, n, name)`)
	tab.Click("Run")
	tab.See("<img src=x onerror=alert(1)>")
	if browser.Evaluate[bool](tab, "document.querySelector('svg.chart') !== null") {
		t.Error("there is a chart that nobody asked for")
	}
	if got := tab.Text("main caption"); !regexp.MustCompile(`^3 rows, in [\d.]+ m?s(; [\d.]+ m?s with reading the lake)?$`).
		MatchString(got) {
		t.Errorf("got %q", got)
	}
	tab.Fill("Chart", "line")
	tab.Until("document.querySelector('svg.chart')")
	if label := browser.Evaluate[string](tab,
		"document.querySelector('svg.chart').getAttribute('aria-label')"); !strings.HasPrefix(label,
		"n along day: 3 values, from 3 to 7 at 2026-01-02") {
		t.Errorf("got %q", label)
	}
	if points := browser.Evaluate[int](tab, "document.querySelectorAll('svg.chart circle').length"); points != 3 {
		t.Errorf("the line has %d points", points)
	}
	tab.Fill("Chart", "bars")
	tab.Until("document.querySelectorAll('svg.chart rect').length === 3")
	tab.Fill("SQL", "SELECT rpad('', 400000, 'long') AS text")
	tab.Click("Run")
	tab.See("1 value is longer than 64 KB, and cut there.")
	tab.Fill("SQL", "SELECT sum(a.n * b.n) FROM UNNEST(sequence(1, 10000000)) AS a (n) "+
		"CROSS JOIN UNNEST(sequence(1, 10000000)) AS b (n)")
	tab.Click("Run")
	tab.Until("![...document.querySelectorAll('button')].find((button) => button.textContent === 'Cancel').disabled")
	tab.Click("Cancel")
	tab.See("The query was cancelled after")
	building.Store(true)
	tab.Click("Run")
	tab.See("Building DuckDB once, about a minute.")
	building.Store(false)
	tab.Click("Cancel")
	tab.See("The query was cancelled after")
	wait.Until(t, "the cancelled query ends", func() (any, bool) {
		running := queries.Load()
		return running, running == 0
	})
	tab.Excuse("400")
	tab.Fill("SQL", "SELECT nothing FROM nowhere")
	tab.Click("Run")
	tab.See("nowhere")
	tab.Fill("SQL", "DROP TABLE x")
	tab.Click("Run")
	tab.See("not a query")
}

// The tab keeps the statement that someone writes, and those that ran, from which the keyboard chooses.
func TestKeepSQL(t *testing.T) {
	_, tab := open(t, "#/lake", browser.Options{})
	for i := range 22 {
		tab.Fill("SQL", fmt.Sprintf("SELECT %d AS n", i))
		tab.Click("Run")
		tab.Until(fmt.Sprintf("document.querySelector('main tbody td')?.innerText === '%d'", i))
	}
	tab.Fill("SQL", "SELECT something that is not written to its end")
	goTo(tab, "#/tables")
	goTo(tab, "#/lake")
	written := func() string {
		return browser.Evaluate[string](tab, "document.querySelector('textarea').value")
	}
	if got := written(); got != "SELECT something that is not written to its end" {
		t.Errorf("got %q", got)
	}
	const statements = "[...document.querySelector('label:has(select option[value^=SELECT]) select').options].slice(1)"
	got := browser.Evaluate[[]string](tab, statements+".map((one) => one.value)")
	if len(got) != 20 || got[0] != "SELECT 21 AS n" || got[19] != "SELECT 2 AS n" {
		t.Errorf("got %q", got)
	}
	browser.Evaluate[bool](tab, statements+"[0].closest('select').focus(), true")
	tab.Press(kb.ArrowDown)
	tab.Press(kb.ArrowUp)
	if got := written(); got != "SELECT something that is not written to its end" {
		t.Errorf("after a look at the history got %q", got)
	}
	tab.Press(kb.ArrowDown)
	tab.Press(kb.ArrowDown)
	tab.Until("document.querySelector('textarea').value === 'SELECT 20 AS n'")
	tab.Click("Run")
	tab.Until("document.querySelector('main tbody td')?.innerText === '20'")
	if got := browser.Evaluate[[]string](tab, statements+".map((one) => one.value)"); len(got) != 20 ||
		got[0] != "SELECT 20 AS n" || got[1] != "SELECT 21 AS n" {
		t.Errorf("got %q", got)
	}
}

func TestToken(t *testing.T) {
	_, tab := open(t, "", browser.Options{})
	tab.Fill("Subject", "alice@corp.example")
	tab.Click("Make a token")
	tab.Until("document.querySelector('textarea[aria-label=Token]')?.value.split('.').length === 3")
}

func TestInvokeAndKill(t *testing.T) {
	runner, _ := suite.Start(t)
	name := runtest.Of(runner).Functions()[0].Name
	_, tab := open(t, "#/functions/"+url.PathEscape(name), browser.Options{})
	tab.Fill("Event as JSON", `{"version": "2.0"}`)
	tab.Click("Invoke")
	tab.Until("document.querySelector('pre[aria-label=Answer]')")
	tab.Click("Kill an instance")
	tab.Click("Kill it?")
	tab.See("is killed")
	tab.Excuse("400")
	tab.Fill("Event as JSON", `not JSON`)
	tab.Click("Invoke")
	tab.See("write the function's event as JSON")
}
