package console

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/services/cognito"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/events"
)

// route is a request that the console answers.
type route struct {
	// request is a method and a path, with the query's parameters after a question mark. does says to people what the
	// request does: docs/reference/console.md shows it.
	request, does string
	// takes is the type of the body, and answers that of the answer, both in JSON. Nil: there is none, or does
	// describes it.
	takes, answers reflect.Type
}

// New returns the console of a run.
func New(parts Parts) *Console {
	c := &Console{parts: parts, mux: http.NewServeMux(), page: newPage()}
	c.plan = sync.OnceValues(func() (*plan, error) { return readPlan(parts.Assembly, parts.Lakes) })
	c.mux.HandleFunc("GET /{$}", c.home)
	c.page.Register(c.mux)
	c.mux.Handle("POST "+WebhooksPath, http.StripPrefix(strings.TrimSuffix(WebhooksPath, "/"), parts.Webhooks))
	c.runRoutes()
	c.dataRoutes()
	c.messageRoutes()
	c.accessRoutes()
	c.mux.HandleFunc("/", c.nowhere)
	return c
}

// runRoutes are about functions, requests and schedules.
func (c *Console) runRoutes() {
	show(c, "GET /functions", "The functions, with figures since the start and their processes.",
		c.parts.Functions.Functions)
	serve(c, "GET /functions/{name}/environment", "The variables of a function's environment. Values that are secrets "+
		"are left out.", c.environment)
	serve(c, "POST /functions/{name}/kill", "Kills a process of the function, as a crash would.", c.kill)
	serve(c, "POST /functions/{name}/invoke",
		"Invokes the function, past all roles. The body is the event, any JSON.", c.invoke)
	serve(c, "GET /requests?search=TEXT&only=OUTCOME&stack=NAME&limit=N&before=SEQ", "Requests of the run, newest "+
		"first: those that have the text in their path, function, id, idempotency key or error, in the code or "+
		"message of the answer, or in the error of a call; or that status if it is a number of three digits; at most "+
		"limit (100, or up to 500). A search that begins with header: or body: looks there, in the request and the "+
		"answer. only chooses those that are failed, 4xx, 5xx or slow (a second or more). before "+
		"takes the next of the page before.", c.requests)
	serve(c, "GET /requests/{id}", "A request: what was sent and answered, and what it did, call by call. The run "+
		"keeps 48 MB of what was sent and answered, and forgets that of the oldest requests first.", c.request)
	take(c, "POST /requests/{id}/again", "Sends a request of an API once more, with the headers and the body that it "+
		"had.", c.sendAgain)
	serve(c, "GET /lines?function=NAME&request=ID&search=TEXT&level=LEVEL&after=SEQ&limit=N",
		"Lines that functions logged, oldest first: of one function, of one request, with the text, from a level up "+
			"(debug, info, warn or error), after the line with that seq, or only the newest ones, at most limit.",
		c.lines)
	c.handle(route{request: "GET /events?type=TYPE&function=NAME&request=ID&search=TEXT&level=LEVEL",
		does: "Server-sent events: requests as they begin and end, lines, and changes of a watched run. With " +
			"type=line only lines come, chosen as by GET /lines."}, c.events)
	serve(c, "GET /costs?stack=NAME", "What the requests that the run keeps used of DynamoDB and would cost on AWS, "+
		"by route and other cause, and by function: of all stacks, or of one.", c.costs)
	show(c, "GET /schedules", "The schedules, with their last runs.", c.schedules)
	serve(c, "POST /schedules/{name}/run", "Runs the schedule now, and answers when its function has finished.",
		c.runSchedule)
	serve(c, "GET /map?stack=NAME", "What the run consists of, and what calls what, as the assembly has it, with how "+
		"often that happened: of all stacks, or of one with what it uses of others.", c.mapOf)
	show(c, "GET /outputs", "The outputs of the stacks.", c.outputs)
}

// dataRoutes are about tables, objects and lakes.
func (c *Console) dataRoutes() {
	show(c, "GET /dynamodb", "How programs of this machine reach the tables, past all roles.", c.database)
	serve(c, "GET /tables", "The tables.", c.tables)
	serve(c, "GET /tables/{name}?stack=STACK", "What a table is. DynamoDB Local counts the items of a table to tell "+
		"their number, so only GET /tables has that.", c.table)
	serve(c, "GET /tables/{name}/items?stack=STACK&index=NAME&partition=KEY&sort=KEY&text=TEXT&limit=N&after=NEXT",
		"A page of at most limit items (50, or up to 200) of a table or an index: those of the partition key, whose "+
			"sort key begins with sort, and with the text in any attribute. stack chooses among tables of the same "+
			"name.", c.items)
	serve(c, "GET /tables/{name}/item?stack=STACK&key=KEY", "The item with the key, which is DynamoDB's JSON, such as "+
		"{\"id\": {\"S\": \"a\"}}.", c.item)
	take(c, "POST /tables/{name}/items", "Changes, adds or deletes an item. It fails with 409 if the item is no "+
		"longer as it was read.", c.replaceItem)
	serve(c, "POST /sweep", "Deletes the items that have expired.", c.sweep)
	show(c, "GET /engine", "How busy DynamoDB Local was.", func() dynamodb.EngineUse {
		return c.parts.AWS.DynamoDB.EngineUse()
	})
	show(c, "GET /capacity", "The capacity units and requests that functions used, by table, index or bucket.",
		func() []aws.CapacityRow { return c.parts.AWS.Capacity() })
	do(c, "DELETE /capacity", "Counts capacity from zero again.", func() { c.parts.AWS.ResetCapacity() })
	show(c, "GET /streams", "How far the delivery of each stream to each function is.", c.parts.Mappings.Streams)
	serve(c, "POST /streams/flush", "Delivers what waits in the streams, and answers when functions have taken it.",
		c.flushStreams)
	show(c, "GET /buckets", "The buckets.", c.parts.Buckets.Buckets)
	serve(c, "GET /buckets/{name}?prefix=PREFIX", "The objects whose keys begin with the prefix.", c.objects)
	serve(c, "GET /buckets/{name}/browse?prefix=PREFIX&after=KEY&limit=N",
		"A page of the folders and objects right below the prefix, at most limit (200, or up to 1,000).", c.browse)
	c.handle(route{request: "GET /buckets/{name}/objects/{key...}?first=BYTES", does: "The content of an object, or " +
		"its first bytes; the header X-Object-Size then has the size of all of it."}, c.object)
	show(c, "GET /lakes", "The lakes, with their tables, views and saved queries.",
		func() []catalog.Lake { return c.parts.Lakes })
	show(c, "GET /lakes/engine", "Whether SQL is answered at once, or its engine has to be built first.",
		c.lakeEngine)
	take(c, "POST /lakes/query", "Answers SQL on a lake. A run of run.Start has no engine for it, and answers 501.",
		c.queryLake)
}

// messageRoutes are about what functions send.
func (c *Console) messageRoutes() {
	serve(c, "GET /push?limit=N", "The push messages that the run sent to Firebase Cloud Messaging, oldest first; "+
		"with a limit the newest ones.", c.push)
	do(c, "DELETE /push", "Forgets the messages.", c.parts.Inbox.Clear)
	take(c, "POST /push/faults", "Lets messages to a device fail.", c.pushFault)
	serve(c, "GET /webhooks?limit=N", "The webhooks that came to the console's endpoint, oldest first; with a limit "+
		"the newest ones.", c.webhooks)
	do(c, "DELETE /webhooks", "Forgets the webhooks.", c.parts.Webhooks.Clear)
	take(c, "POST /webhooks/behaviours", "Lets a path of the endpoint fail, hang or redirect.", c.behave)
	take(c, "POST /webhooks/secrets", "Checks signatures of further webhooks by these secrets.", c.knowSecrets)
	show(c, "GET /queues", "The queues.", c.queues)
	serve(c, "GET /queues/{name}?limit=N", "A queue and its messages, oldest first. With a limit the bodies are cut "+
		"at 8 KB.", c.queue)
	take(c, "POST /queues/{name}/messages", "Sends a message to the queue, past all roles.", c.sendMessage)
	serve(c, "GET /queues/{name}/messages/{id}", "A message.", c.message)
	serve(c, "POST /queues/{name}/messages/{id}/again", "Does once more what failed, according to the message, and "+
		"then removes the message.", c.again)
	serve(c, "POST /queues/{name}/due", "Lets the time pass for which messages of the queue wait.", c.dueMessages)
	serve(c, "DELETE /queues/{name}/messages/{id}", "Removes a message.", c.dropMessage)
	show(c, "GET /buses", "The buses, with their rules.", func() []events.Bus { return c.parts.AWS.Events.Buses() })
	serve(c, "GET /buses/events?search=TEXT&limit=N", "Events that came to the buses, newest first: those that have "+
		"the text, at most limit (200, or up to 1,000).", c.published)
	take(c, "POST /buses/{name}/events", "Puts an event on the bus, past all roles.", c.publish)
}

// accessRoutes are about who may do what, and about faults.
func (c *Console) accessRoutes() {
	take(c, "POST /token", "Makes a token that the JWT authorizers of the APIs accept, and signs its user up.", c.token)
	take(c, "POST /try", "Sends a request to an API of the run.", c.try)
	show(c, "GET /user-pools", "The user pools, with their clients and sign-ups.", func() []cognito.Status {
		return c.parts.Users.Pools()
	})
	show(c, "GET /secrets", "The names of the secrets, and who reads them.", c.secrets)
	show(c, "GET /parameters", "The parameters of AWS Systems Manager, and who reads them. A SecureString has no "+
		"value here.", c.parameters)
	show(c, "GET /permissions", "What each function and schedule used of its role, did not use, and was refused.",
		c.permissions)
	show(c, "GET /used-permissions", "What functions and schedules used of their roles.",
		func() []aws.Use { return c.parts.AWS.Used() })
	show(c, "GET /refused", "What roles refused.", func() []aws.Refusal { return c.parts.AWS.Refused() })
	show(c, "GET /attention", "What needs a look: faults that are on, dead letters, failed schedules, and refused "+
		"permissions.", c.attention)
	show(c, "GET /faults", "The faults of AWS that the run injects.",
		func() aws.Faults { return c.parts.AWS.Faults() })
	take(c, "POST /faults", "Replaces the faults, each a probability from 0 to 1.", c.setFaults)
	serve(c, "GET /.well-known/openid-configuration", "The discovery document of the issuer of tokens (OpenID "+
		"Connect).", c.discovery)
	serve(c, "GET /.well-known/jwks.json", "The keys of the issuer of tokens (JSON Web Key Set).",
		func(*http.Request) (map[string]any, error) { return c.parts.Issuer.JWKS() })
	serve(c, "GET /user-pools/{id}/.well-known/openid-configuration", "The same document with the issuer that the "+
		"tokens of a user pool name.", c.discoveryOfPool)
	for _, one := range cognito.Endpoints() {
		c.handle(route{request: one.Request, does: one.Does}, func(w http.ResponseWriter, r *http.Request) {
			c.parts.Users.Endpoints().ServeHTTP(w, r)
		})
	}
}

// handle lists a request, and answers it.
func (c *Console) handle(of route, handler http.HandlerFunc) {
	c.routes = append(c.routes, of)
	pattern, _, _ := strings.Cut(of.request, "?")
	c.mux.HandleFunc(pattern, handler)
}

// nothing is the answer to a request that changes something, and has no more to say.
type nothing struct{}

// serve answers a request with what the handler returns, as JSON.
func serve[T any](c *Console, request, does string, handler func(*http.Request) (T, error)) {
	answer(c, route{request: request, does: does}, handler)
}

// take answers a request that has a body.
func take[B, T any](c *Console, request, does string, handler func(*http.Request, B) (T, error)) {
	answer(c, route{request: request, does: does, takes: reflect.TypeFor[B]()}, func(r *http.Request) (T, error) {
		body, err := decode[B](r, does)
		if err != nil {
			var none T
			return none, err
		}
		return handler(r, body)
	})
}

// show answers a request with what a part of the run says at that moment.
func show[T any](c *Console, request, does string, read func() T) {
	serve(c, request, does, func(*http.Request) (T, error) { return read(), nil })
}

// do answers a request that changes something.
func do(c *Console, request, does string, change func()) {
	serve(c, request, does, func(*http.Request) (nothing, error) {
		change()
		return nothing{}, nil
	})
}

func answer[T any](c *Console, of route, handler func(*http.Request) (T, error)) {
	of.answers = reflect.TypeFor[T]()
	c.handle(of, c.answer(func(r *http.Request) (any, error) {
		document, err := handler(r)
		if _, none := any(document).(nothing); none {
			return nil, err
		}
		return document, err
	}))
}

// decode reads the body of a request, whose errors tell what it does.
func decode[B any](r *http.Request, does string) (body B, err error) {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		var members []string
		for _, field := range reflect.VisibleFields(reflect.TypeFor[B]()) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			members = append(members, name)
		}
		return body, &Problem{http.StatusBadRequest,
			fmt.Sprintf("body: %v: write a JSON object with any of %s. The request does this: %s", err,
				strings.Join(members, ", "), does)}
	}
	// The server notices that nobody waits for the answer once it has read the request to its end.
	_, _ = io.Copy(io.Discard, r.Body)
	return body, nil
}
