// Package schema is the language in which a platform is declared, as plain Go values: tables and the access patterns on
// them, functions, routes, events, metrics and lakes.
//
// A [Platform] is the one contract of constructs and handlers. The constructs make tables, routes and grants of it. The
// handlers build their requests from it, and docs/reference/access-patterns is printed from it. The packages in
// platforms declare the platforms of this module; your own is a value like theirs.
//
// The package imports neither the CDK nor the SDK of AWS.
package schema

import (
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Platform is everything that the constructs and the handlers of one platform share:
// its data model, the functions that use it and the routes that those functions serve.
type Platform struct {
	// Name is the name of the platform's folder in platforms, constructs and lambdas, such as "askahuman".
	Name string
	// Title is its name for people, such as "Ask-a-Human".
	Title string
	// Description says in a few words what people do with it. Amazon API Gateway shows it.
	Description string
	// Database is its data model.
	Database Database
	// RateLimits are the limits that Routes name.
	RateLimits []RateLimit
	// Functions are its Lambda functions; function F of platform P is the main
	// package lambdas/P/F.
	Functions []Function
	// Secrets are the secrets that Functions name.
	Secrets []Secret
	// Buckets are the buckets that Functions put objects into, or read them from.
	Buckets []Bucket
	// Routes are its HTTP operations.
	Routes []Route
	// API says how it answers their requests.
	API API
	// RequestHeaders are the headers that web pages may send to its API, and
	// ResponseHeaders those that they may read, beside the ones that CORS always allows.
	// Default: none.
	RequestHeaders, ResponseHeaders []string
	// Metrics are the metrics that its functions report.
	Metrics []Metric
	// Lakes say how the changes of its tables become files to query. Default: none. The
	// first keeps its construct ids, so add others after it: see [Platform.LakeID].
	Lakes []Lake
	// Events are the domain events that it publishes on a bus, if its props set Events. Default: none.
	Events []Event
	// Owned is what a person owns, in the order in which a deletion makes it unreachable. Default: nothing.
	Owned []Owned
	// Records are the kinds of items that teams can add attributes to. Default: none.
	Records []Record
	// Extra are the additions of a team to Records, by [Platform.Extended].
	Extra []Extra

	unextended finding.List // what of Extra could not be added
	joined     []string     // functions that came by Join
}

// Database is a data model: tables, and all access patterns on them. The origin, which some fields quote, is the
// document of the platform's owner (docs/project/deviations.md).
type Database struct {
	// Prefix begins the physical names of the tables in the origin: "aah" gives "aah-questions".
	Prefix string
	// Tables are listed in the order in which the origin describes them.
	Tables []Table
	// AccessPatterns are all requests that functions and commands make to the tables.
	AccessPatterns []AccessPattern
}

// Table is one DynamoDB table.
type Table struct {
	// Name is the logical name, such as "UserStats": the construct id, and the
	// stem of [Table.EnvironmentVariable].
	Name string
	// PhysicalName is what follows the prefix in the physical name, such as
	// "user-stats".
	PhysicalName string
	// Description says what an item is.
	Description string
	// Key is the primary key.
	Key Key
	// Attributes are all attributes that items may have, keys included: functions cannot write others.
	Attributes []Attribute
	// Extra are those of Attributes that a team has added, by [Platform.Extended].
	Extra []ExtraAttribute
	// OwnKeyTypes allows a key attribute of this table to have another type than a key attribute of the same name in
	// another table. Default: Validate refuses that.
	OwnKeyTypes bool
	// Indexes are the global secondary indexes.
	Indexes []Index
	// TimeToLive names the attribute that holds the second, in Unix time, after
	// which DynamoDB may delete the item. Empty: items stay.
	TimeToLive string
	// Stream says what the table's stream carries. Empty: no stream.
	Stream StreamView
	// Capacity is the read and write capacity. The zero value is on-demand.
	Capacity Capacity
}

// Key names the attributes of a primary key or of an index key.
type Key struct {
	// Partition is the partition key attribute.
	Partition string
	// Sort is the sort key attribute. Empty: the key is the partition key alone.
	Sort string
}

// Attributes returns the attribute names of the key, partition key first.
func (k Key) Attributes() []string {
	if k.Sort == "" {
		return []string{k.Partition}
	}
	return []string{k.Partition, k.Sort}
}

// Attribute is one attribute of a table's items.
type Attribute struct {
	// Name is the attribute's name as stored.
	Name string
	// Type is its DynamoDB type.
	Type Type
	// Description says what it means, with unit and format.
	Description string
}

// Attribute returns an attribute of the type.
func (t Type) Attribute(name, description string) Attribute { return Attribute{name, t, description} }

// Type is a DynamoDB data type ("Supported data types and naming rules in
// Amazon DynamoDB").
type Type string

// The data types. Only String, Number and Binary can be a key.
const (
	String    Type = "String"
	Number    Type = "Number"
	Binary    Type = "Binary"
	Boolean   Type = "Boolean"
	List      Type = "List"
	Map       Type = "Map"
	StringSet Type = "StringSet"
	NumberSet Type = "NumberSet"
)

// Index is one global secondary index.
type Index struct {
	// Name is the index's name, such as "ByStatus".
	Name string
	// Key is the index key.
	Key Key
	// FurtherPartition are at most 3 attributes that make up the partition key together with
	// Key.Partition. A Query compares each of them by equality.
	FurtherPartition []string
	// FurtherSort are at most 3 attributes that make up the sort key after Key.Sort, which is then
	// required. Items are sorted by the first, then the second, and so on; a Query names them from
	// the first on, and only the last that it names may be compared by anything but equality
	// ("Multi-attribute keys pattern").
	FurtherSort []string
	// Projection says which attributes the index holds. The zero value is all.
	Projection Projection
	// Include are the attributes projected beside the keys, with ProjectInclude.
	Include []string
	// Description says what the index is for, and, for a sparse one, which items
	// are in it.
	Description string
}

// PartitionAttributes returns the attribute names of the partition key.
func (i Index) PartitionAttributes() []string {
	return append([]string{i.Key.Partition}, i.FurtherPartition...)
}

// SortAttributes returns the attribute names of the sort key, none if there is no
// sort key.
func (i Index) SortAttributes() []string {
	if i.Key.Sort == "" {
		return nil
	}
	return append([]string{i.Key.Sort}, i.FurtherSort...)
}

// KeyAttributes returns the attribute names of the index key, the partition key's first.
func (i Index) KeyAttributes() []string {
	return append(i.PartitionAttributes(), i.SortAttributes()...)
}

// Projection says which attributes an index holds.
type Projection string

// The projections.
const (
	ProjectAll      Projection = ""
	ProjectKeysOnly Projection = "KEYS_ONLY"
	ProjectInclude  Projection = "INCLUDE"
)

// StreamView says what a table's stream records carry.
type StreamView string

// The stream views. The zero value is no stream.
const (
	StreamNone            StreamView = ""
	StreamKeysOnly        StreamView = "KEYS_ONLY"
	StreamNewImage        StreamView = "NEW_IMAGE"
	StreamOldImage        StreamView = "OLD_IMAGE"
	StreamNewAndOldImages StreamView = "NEW_AND_OLD_IMAGES"
)

// Capacity is provisioned capacity. The zero value means on-demand.
type Capacity struct {
	// ReadUnits and WriteUnits are capacity units per second.
	ReadUnits, WriteUnits int
}

// OnDemand reports whether capacity is paid by the request.
func (c Capacity) OnDemand() bool { return c == Capacity{} }

// Action is a DynamoDB action that an access pattern makes, by the name of its API operation. A read costs half a unit
// for each 4 KB of an item, and a whole one if it is consistent; a Query counts all items that it reads together. A
// write costs a unit for each KB of the item, and for each index that it changes. In a transaction both cost twice as
// much ("Read and write operations", DynamoDB developer guide).
type Action string

// The actions. There is no Scan: a pattern that needs one is not an access pattern. ConditionCheckItem is a part of
// transactions only.
const (
	GetItem            Action = "GetItem"
	BatchGetItem       Action = "BatchGetItem"
	Query              Action = "Query"
	PutItem            Action = "PutItem"
	UpdateItem         Action = "UpdateItem"
	DeleteItem         Action = "DeleteItem"
	ConditionCheckItem Action = "ConditionCheckItem"
	TransactWriteItems Action = "TransactWriteItems"
)

// AccessPattern is one way in which a table is used. The handlers make no other
// request, and a role is granted what its function's patterns need.
type AccessPattern struct {
	// Name is unique in the database, such as "ListOpenQuestions".
	Name string
	// Description says what it is for.
	Description string
	// Action is the action.
	Action Action
	// Table is the logical name of the table. Empty with TransactWriteItems,
	// whose Writes name theirs.
	Table string
	// Tables are the logical names of several tables: one BatchGetItem reads an item of each. Empty: it reads items of
	// Table.
	Tables []string
	// Index is the index that a Query reads. Empty: the table.
	Index string
	// KeyConditions are a Query's key condition, the partition key first, in the
	// order of the key's attributes.
	KeyConditions []KeyCondition
	// Descending makes a Query read the highest sort key first.
	Descending bool
	// Consistent makes a read strongly consistent. An index cannot be read so.
	Consistent bool
	// Count makes a Query return the number of items instead of the items.
	Count bool
	// Attributes are those that a read returns (its projection expression).
	// Empty: all that the table or index holds.
	Attributes []string
	// Filter are the attributes that a Query's filter expression names.
	Filter []string
	// Writes are the parts of a TransactWriteItems.
	Writes []Write
	// Functions are the functions that use it, by name: their roles are granted exactly what it needs.
	Functions []string
	// Offered marks a pattern for functions that teams add ([Own]): no function of the platform has to use it.
	Offered bool
	// ByOperators marks a pattern for a command of operators: no function has to use it.
	ByOperators bool
	// Origin is the pattern's wording in the origin (see [Database]). Semicolons separate the wordings of several.
	// Empty: the origin does not have the pattern.
	Origin string
	// OriginCost is the origin's expected cost. Empty: the origin names none.
	OriginCost string
}

// KeyCondition is one term of a key condition expression.
type KeyCondition struct {
	// Attribute is a key attribute of the table or index.
	Attribute string
	// Comparison is how it is compared. The partition key allows Equal only.
	Comparison Comparison
}

// Comparison is a comparison that DynamoDB allows in a key condition ("Key
// condition expressions for the Query operation in DynamoDB").
type Comparison string

// The comparisons.
const (
	Equal          Comparison = "="
	Less           Comparison = "<"
	LessOrEqual    Comparison = "<="
	Greater        Comparison = ">"
	GreaterOrEqual Comparison = ">="
	BeginsWith     Comparison = "begins_with"
	Between        Comparison = "between"
)

// Write is one part of a transaction.
type Write struct {
	// Table is the logical name of the table.
	Table string
	// Action is PutItem, UpdateItem, DeleteItem or ConditionCheckItem.
	Action Action
	// Optional marks a part that a transaction may leave out.
	Optional bool
	// Repeated marks a part that a transaction may have several times, each time for another item.
	Repeated bool
	// Description says what the part does, and under which condition.
	Description string
}

// Function is a Lambda function of a platform.
type Function struct {
	// Name is its main package below lambdas/<platform>/, such as "agentapi".
	Name string
	// Description is shown in the AWS console.
	Description string
	// ID is its construct id: the alarm on its failures is <ID>Alarm. Default: Name with a
	// capital.
	ID string
	// Trigger is what invokes it, beside the routes that it serves. Default: nothing.
	Trigger Trigger
	// Timeout ends an invocation that takes longer: whole seconds up to 15 minutes.
	// Default: 10 seconds.
	Timeout time.Duration `min:"1s" max:"15m" step:"1s" default:"10 seconds"`
	// Secrets are the secrets that it reads, by name: its role may read no other.
	Secrets []string
	// Puts are the objects that it writes, and Gets those that it reads. Its role allows nothing else on a bucket. It
	// may not list objects, so Amazon S3 answers 403 instead of 404 for an object that does not exist.
	Puts, Gets []Objects
	// Sends are the functions to whose queues it sends messages, by name: their Trigger is [OnQueue].
	Sends []string
	// CallsModel lets it call the language model that the platform's props name, and no other. It finds the model in
	// [ModelVariable], which is absent if the props name none.
	CallsModel bool
	// SignsInAt is the path of a page of the function on which users sign in, such as "/operator". The function serves
	// a route GET of that path with [CallerAnyone]. The platform's own user pool gets an app client for the page, and
	// the function finds the page's settings in [SignInURLVariable], [SignInClientVariable] and [SignInPageVariable].
	// Default: none.
	SignsInAt string
}

// Route is a route of the API: that of an [Operation] ([Routes]), or a page or a protocol, which have none.
type Route struct {
	// ID is the operation's ID in the function that serves it and in the OpenAPI document, such as "askQuestion".
	// Empty: the route is no operation of a Go function.
	ID string
	// Method is the HTTP method, in capitals.
	Method string
	// Path is the path with parameters in braces, such as
	// "/agent/questions/{question_id}".
	Path string
	// Function is the name of the function that serves it.
	Function string
	// Caller says who may call it.
	Caller Caller
	// RateLimit names the limit that a call counts towards. Empty: none but the
	// API's own throttling.
	RateLimit string
	// OutsideAPI marks a page, or a protocol of its own, which the OpenAPI document leaves out.
	OutsideAPI bool
	// Summary is one line for people.
	Summary string

	operation *Description
}

// Operations returns the routes of the platform's API: all but those that are outside of it.
func (p Platform) Operations() []Route {
	return slices.DeleteFunc(slices.Clone(p.Routes), func(r Route) bool { return r.OutsideAPI })
}

// Key returns the method and the path, such as "GET /notes": what Amazon API Gateway calls a route key.
func (r Route) Key() string { return r.Method + " " + r.Path }

// RateLimit limits the requests of one caller. It counts in fixed windows, which begin at multiples of Window since the
// Unix epoch. The platform's own handlers count, by the access patterns of [RateLimitPatterns]. The throttles of
// constructs/httpapi are for all callers together.
type RateLimit struct {
	// Name is the name by which routes refer to the limit, such as "create".
	Name string
	// Requests is how many calls a window allows.
	Requests int
	// Window is the length of a window.
	Window time.Duration
	// Per is the identity that calls are counted by. Calls of unknown callers without a token are counted by address
	// instead.
	Per Identity
	// AddressRequests limits the calls that a window allows to all callers of one address together: Requests or more.
	// Per must then be a kind of callers without a token, who can invent identities more easily than addresses.
	// Default: no limit.
	AddressRequests int
}

// Identity is the key by which a rate limit counts calls: PerAddress, or the name of a [Caller].
type Identity string

// The identities.
const (
	PerAddress Identity = "address"
	PerUser    Identity = "user"
)

// EnvironmentVariable returns the variable in which functions find the table's physical name: "UserStats" gives
// "USER_STATS_TABLE" (origin: Lingible's configuration section; the other platforms follow it).
func (t Table) EnvironmentVariable() string {
	var b strings.Builder
	for i, r := range t.Name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String()) + "_TABLE"
}

// Attribute returns the attribute of that name.
func (t Table) Attribute(name string) (Attribute, bool) {
	return named(t.Attributes, name, func(x Attribute) string { return x.Name })
}

// Index returns the index of that name.
func (t Table) Index(name string) (Index, bool) {
	return named(t.Indexes, name, func(x Index) string { return x.Name })
}

// Projects reports whether reading the index returns the attribute: it is
// projected, or a key of the index or of the table.
func (t Table) Projects(index Index, attribute string) bool {
	if index.Projection == ProjectAll {
		_, ok := t.Attribute(attribute)
		return ok
	}
	return slices.Contains(slices.Concat(index.Include, index.KeyAttributes(), t.Key.Attributes()), attribute)
}

// named returns the first value of that name.
func named[T any](values []T, name string, nameOf func(T) string) (found T, ok bool) {
	i := slices.IndexFunc(values, func(value T) bool { return nameOf(value) == name })
	if i < 0 {
		return found, false
	}
	return values[i], true
}

// Table returns the table of that logical name.
func (d Database) Table(name string) (Table, bool) {
	return named(d.Tables, name, func(x Table) string { return x.Name })
}

// AccessPattern returns the pattern of that name.
func (d Database) AccessPattern(name string) (AccessPattern, bool) {
	return named(d.AccessPatterns, name, func(x AccessPattern) string { return x.Name })
}

// RateLimit returns the limit of that name.
func (p Platform) RateLimit(name string) (RateLimit, bool) {
	return named(p.RateLimits, name, func(x RateLimit) string { return x.Name })
}

// RoutesOf returns the keys of the routes that those callers may call, in the order of
// Routes.
func (p Platform) RoutesOf(callers ...Caller) []string {
	return p.keysOf(func(r Route) bool { return slices.Contains(callers, r.Caller) })
}

// RoutesServedBy returns the keys of the routes that the function serves, in the order of Routes.
func (p Platform) RoutesServedBy(function string) []string {
	return p.keysOf(func(r Route) bool { return r.Function == function })
}

func (p Platform) keysOf(wanted func(Route) bool) (keys []string) {
	for _, r := range p.Routes {
		if wanted(r) {
			keys = append(keys, r.Key())
		}
	}
	return keys
}

// Function returns the function of that name.
func (p Platform) Function(name string) (Function, bool) {
	return named(p.Functions, name, func(x Function) string { return x.Name })
}

// Grant is a permission that access patterns need: one action on one table or on one of its indexes.
type Grant struct {
	// Action is the IAM action without its "dynamodb:".
	Action Action
	// Table is the logical name of the table.
	Table string
	// Index is the index, or empty for the table itself.
	Index string
}

// PatternsOf returns the names of the access patterns that a function uses, in the order of the patterns.
func (p Platform) PatternsOf(function string) (names []string) {
	for _, pattern := range p.Database.AccessPatterns {
		if slices.Contains(pattern.Functions, function) {
			names = append(names, pattern.Name)
		}
	}
	return names
}

// GrantsOf returns the grants that the access patterns of a function need (see [Platform.Grants]).
func (p Platform) GrantsOf(function string) []Grant { return p.Grants(p.PatternsOf(function)...) }

// Grants returns the grants that the named access patterns need, each once, in the order of the patterns. A transaction
// needs the actions of its parts ("IAM and transactions", DynamoDB developer guide). A PutItem on a table with
// attributes that a team has added needs UpdateItem, too, which keeps them. Grants ignores names that the database does
// not have.
func (p Platform) Grants(patterns ...string) []Grant {
	var grants []Grant
	seen := map[Grant]bool{}
	var add func(g Grant)
	add = func(g Grant) {
		if !seen[g] {
			seen[g] = true
			grants = append(grants, g)
		}
		if t, _ := p.Database.Table(g.Table); g.Action == PutItem && len(t.Extra) > 0 {
			add(Grant{Action: UpdateItem, Table: g.Table})
		}
	}
	for _, name := range patterns {
		pattern, ok := p.Database.AccessPattern(name)
		if !ok {
			continue
		}
		if pattern.Action == TransactWriteItems {
			for _, w := range pattern.Writes {
				add(Grant{Action: w.Action, Table: w.Table})
			}
			continue
		}
		for _, table := range pattern.tables() {
			add(Grant{Action: pattern.Action, Table: table, Index: pattern.Index})
		}
	}
	return grants
}
