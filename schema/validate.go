package schema

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// DynamoDB's own limits ("Service, account, and table quotas in Amazon
// DynamoDB", "Naming rules").
const (
	maxIndexes             = 20
	maxProjectedAttributes = 100
	maxTransactionWrites   = 100
	maxKeyAttributes       = 4 // of a partition key, and of a sort key
)

// The patterns are compiled when they are first used: every handler imports this
// package, and none validates.
var (
	tableName     = expression(`^[a-zA-Z0-9_.-]{3,255}$`)
	logicalName   = expression(`^[A-Z][A-Za-z0-9]*$`)
	functionName  = expression(`^[a-z][a-z0-9]*$`)
	pathParameter = expression(`^\{[a-z][a-z0-9_]*\+?\}$`)
	pathSegment   = expression(`^[a-zA-Z0-9._~:@-]*$`)
	operationID   = expression(`^[a-z][A-Za-z0-9]*$`)
)

// pattern is a regular expression that is compiled when it is first used.
type pattern func() *regexp.Regexp

func expression(text string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

func matches(p pattern, text string) bool { return p().MatchString(text) }

// findings gather what is wrong with a schema.
type findings struct{ list finding.List }

func (f *findings) add(path, got, remedy string, arguments ...any) {
	f.list = append(f.list, finding.Finding{Path: path, Got: cmp.Or(got, "nothing"), Allowed: allowedAt(path),
		Remedy: fmt.Sprintf(remedy, arguments...)})
}

// allowedAt returns what is allowed in a part of a schema, in general terms; the remedy has the
// rule.
func allowedAt(path string) string {
	for beginning, takers := range map[string]string{
		"Tables": "DynamoDB takes", "AccessPatterns": "the tables have",
		"Functions": "AWS Lambda takes and the data model has",
		"Routes":    "API Gateway and the functions can tell apart", "Lake": "the catalog and the functions take",
	} {
		if strings.HasPrefix(path, beginning) {
			return "what " + takers
		}
	}
	return "what the constructs can declare"
}

func (f *findings) err() error { return f.list.Err() }

// Validate checks the data model against the rules of DynamoDB, and against what constructs and handlers can carry out.
// The error is a [finding.List] of all faults.
func (d Database) Validate() error {
	f := &findings{}
	d.validate(f)
	return f.err()
}

// Validate checks the whole platform, its Database as [Database.Validate] does. The error is a [finding.List] of all
// faults.
func (p Platform) Validate() error {
	f := &findings{}
	if !matches(functionName, p.Name) {
		f.add("Name", quoted(p.Name), "write lower-case letters and digits: it names the platform's packages")
	}
	p.Database.validate(f)
	p.validateKeyLengths(f)
	unique(f, "Lakes", p.Lakes, func(l Lake) string { return l.Name })
	for _, l := range p.Lakes {
		l.validate(f, "Lakes["+l.Name+"]", p.Database)
	}
	limits := p.validateLimits(f)
	functions := unique(f, "Functions", p.Functions, func(fn Function) string { return fn.Name })
	for _, fn := range p.Functions {
		path := "Functions[" + fn.Name + "]"
		if !matches(functionName, fn.Name) {
			f.add(path+".Name", quoted(fn.Name), "write lower-case letters and digits: it names the function's main "+
				"package")
		}
		p.validateFunction(f, fn)
	}
	p.validateSecrets(f)
	p.validateBuckets(f)
	p.validateEvents(f)
	p.validateOwned(f)
	p.validateExtra(f)
	p.validateVariables(f)
	p.validateIDs(f)
	for _, pattern := range p.Database.AccessPatterns {
		path := "AccessPatterns[" + pattern.Name + "]"
		for i, name := range pattern.Functions {
			if !functions[name] {
				f.add(fmt.Sprintf("%s.Functions[%d]", path, i), quoted(name), "name a declared function")
			}
		}
		unique(f, path+".Functions", pattern.Functions, itself)
		if !pattern.Offered && !pattern.ByOperators && len(pattern.Functions) == 0 {
			f.add(path, "a pattern that no function uses", "say by UsedBy which functions use it, leave it out, set "+
				"Offered if it is for functions that join the platform, or ByOperators if it is for a command of "+
				"operators")
		}
	}
	p.validateMetrics(f, functions)
	validateRoutes(f, p.Routes)
	authorizers := p.Authorizers()
	for _, r := range p.Routes {
		path := r.path()
		if !functions[r.Function] {
			f.add(path+".Function", quoted(r.Function), "name a declared function")
		}
		if _, ok := authorizers[r.Caller.Authorizer]; r.Caller.Authorizer != "" && !ok {
			f.add(path+".Caller.Authorizer", quoted(r.Caller.Authorizer),
				"name a function whose Trigger is OnAuthorize")
		}
		if scope := r.Caller.Scope; scope != "" && !strings.HasPrefix(scope, p.Name+"/") {
			f.add(path+".Caller.Scope", quoted(scope), "begin it with the platform's name: %s/", p.Name)
		}
		if r.RateLimit != "" && !limits[r.RateLimit] {
			f.add(path+".RateLimit", quoted(r.RateLimit), "name a declared rate limit, or none")
		}
		// A platform without the pattern counts calls in a way of its own.
		if counts, ok := p.Database.AccessPattern(CountRequest); ok && r.RateLimit != "" && functions[r.Function] &&
			!slices.Contains(counts.Functions, r.Function) {
			f.add(path+".RateLimit", quoted(r.RateLimit), "let the function %s count calls: name it in "+
				"RateLimitPatterns, or the access pattern %s in UsedBy", quoted(r.Function), CountRequest)
		}
	}
	return f.err()
}

// ValidateRoutes is [Platform.Validate] for routes alone. It does not check whether
// their functions and rate limits are declared.
func ValidateRoutes(routes []Route) error {
	f := &findings{}
	validateRoutes(f, routes)
	return f.err()
}

func validateRoutes(f *findings, routes []Route) {
	unique(f, "Routes", routes, func(r Route) string { return r.Method + " " + parametersUnnamed(r.Path) })
	ids := map[string]bool{}
	for _, r := range routes {
		r.validate(f)
		if r.ID != "" && ids[r.ID] {
			f.add(r.path()+".ID", quoted(r.ID), "name each operation once")
		}
		ids[r.ID] = true
	}
	validateCallers(f, routes)
}

// path is where findings about the route are.
func (r Route) path() string { return "Routes[" + r.Key() + "]" }

func (r Route) validate(f *findings) {
	path := r.path()
	if r.ID != "" && !matches(operationID, r.ID) {
		f.add(path+".ID", quoted(r.ID), "write letters and digits, a lower-case letter first, such as askQuestion")
	}
	if !slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}, r.Method) {
		f.add(path+".Method", quoted(r.Method), "write one of GET, HEAD, POST, PUT, PATCH, DELETE")
	}
	if !strings.HasPrefix(r.Path, "/") {
		f.add(path+".Path", quoted(r.Path), "begin it with /")
	}
	segments := strings.Split(strings.TrimPrefix(r.Path, "/"), "/")
	for i, segment := range segments {
		switch {
		case strings.ContainsAny(segment, "{}") && !matches(pathParameter, segment):
			f.add(path+".Path", quoted(segment), "a parameter is a whole segment in braces, such as {question_id}")
		case strings.HasSuffix(segment, "+}") && i < len(segments)-1:
			f.add(path+".Path", quoted(segment), "a parameter that takes all the rest is the last segment")
		case !matches(pathSegment, segment) && !matches(pathParameter, segment):
			f.add(path+".Path", quoted(segment), "write letters, digits and - . _ ~ : @")
		}
	}
	r.Caller.validate(f, path+".Caller")
}

// parametersUnnamed makes paths equal that differ in parameter names only, as
// API Gateway does.
func parametersUnnamed(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if matches(pathParameter, segment) {
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}

func (d Database) validate(f *findings) {
	unique(f, "Tables", d.Tables, func(t Table) string { return t.Name })
	unique(f, "Tables", d.Tables, func(t Table) string { return t.PhysicalName })
	for _, t := range d.Tables {
		t.validate(f, d.Prefix)
	}
	d.validateKeyTypes(f)
	unique(f, "AccessPatterns", d.AccessPatterns, func(p AccessPattern) string { return p.Name })
	for _, p := range d.AccessPatterns {
		p.validate(f, d)
	}
}

// validateKeyTypes checks that a key attribute has one type in all tables: a request with a value of another type
// fails, and so does a write of such an item.
func (d Database) validateKeyTypes(f *findings) {
	types, first := map[string]Type{}, map[string]string{}
	for _, t := range d.Tables {
		if t.OwnKeyTypes {
			continue
		}
		for _, name := range t.keyAttributes() {
			a, ok := t.Attribute(name)
			if !ok {
				continue
			}
			if types[name] == "" {
				types[name], first[name] = a.Type, t.Name
			}
			if a.Type != types[name] {
				f.add("Tables["+t.Name+"].Attributes["+name+"].Type", quoted(string(a.Type)),
					"it is a key here, and a key of the table %s, where it is a %s: give it one type, or say "+
						"OwnKeyTypes", first[name], types[name])
			}
		}
	}
}

// keyAttributes are the attributes of the table's key and of its indexes' keys, each once.
func (t Table) keyAttributes() []string {
	names := t.Key.Attributes()
	for _, index := range t.Indexes {
		names = append(names, index.KeyAttributes()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (t Table) validate(f *findings, prefix string) {
	path := "Tables[" + t.Name + "]"
	if !matches(logicalName, t.Name) {
		f.add(path+".Name", quoted(t.Name), "write letters and digits beginning with a capital: it is a construct id")
	}
	physical := t.physicalName(prefix)
	if t.PhysicalName == "" || !matches(tableName, physical) {
		f.add(path+".PhysicalName", quoted(physical), "with the prefix it must be 3 to 255 of letters, digits, _ . -")
	}
	attributes := unique(f, path+".Attributes", t.Attributes, func(a Attribute) string { return a.Name })
	for _, a := range t.Attributes {
		switch a.Type {
		case String, Number, Binary, Boolean, List, Map, StringSet, NumberSet:
		default:
			f.add(path+".Attributes["+a.Name+"].Type", quoted(string(a.Type)),
				"write String, Number, Binary, Boolean, List, Map, StringSet or NumberSet")
		}
	}
	t.validateKey(f, path+".Key", t.Key)
	if t.TimeToLive != "" {
		switch a, ok := t.Attribute(t.TimeToLive); {
		case !ok:
			f.add(path+".TimeToLive", quoted(t.TimeToLive), "declare the attribute, or name one that is declared")
		case a.Type != Number:
			f.add(path+".TimeToLive", fmt.Sprintf("%q, a %s", a.Name, a.Type),
				"time to live works on a Number of seconds since the Unix epoch only: DynamoDB ignores any other type")
		}
	}
	switch t.Stream {
	case StreamNone, StreamKeysOnly, StreamNewImage, StreamOldImage, StreamNewAndOldImages:
	default:
		f.add(path+".Stream", quoted(string(t.Stream)),
			"write KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES, or nothing")
	}
	if c := t.Capacity; !c.OnDemand() && (c.ReadUnits < 1 || c.WriteUnits < 1) {
		f.add(path+".Capacity", fmt.Sprintf("%d read and %d write units", c.ReadUnits, c.WriteUnits),
			"write at least 1 of both, or neither for on-demand")
	}
	unique(f, path+".Indexes", t.Indexes, func(i Index) string { return i.Name })
	if len(t.Indexes) > maxIndexes {
		f.add(path+".Indexes", fmt.Sprint(len(t.Indexes)), "DynamoDB allows %d global secondary indexes on a table",
			maxIndexes)
	}
	included := 0
	for _, index := range t.Indexes {
		indexPath := path + ".Indexes[" + index.Name + "]"
		if !matches(tableName, index.Name) {
			f.add(indexPath+".Name", quoted(index.Name), "write 3 to 255 of letters, digits, _ . -")
		}
		t.validateKey(f, indexPath+".Key", index.Key)
		t.validateFurther(f, indexPath, index)
		switch {
		case index.Projection == ProjectInclude && len(index.Include) == 0:
			f.add(indexPath+".Include", "", "name the projected attributes, or project KEYS_ONLY")
		case index.Projection != ProjectInclude && len(index.Include) > 0:
			f.add(indexPath+".Include", fmt.Sprint(index.Include), "only ProjectInclude names attributes")
		case index.Projection != ProjectAll && index.Projection != ProjectKeysOnly &&
			index.Projection != ProjectInclude:
			f.add(indexPath+".Projection", quoted(string(index.Projection)),
				"write ProjectAll, ProjectKeysOnly or ProjectInclude")
		}
		for _, name := range index.Include {
			if !attributes[name] {
				f.add(indexPath+".Include", quoted(name), "declare the attribute, or name one that is declared")
			}
		}
		included += len(index.Include)
	}
	if included > maxProjectedAttributes {
		f.add(path+".Indexes", fmt.Sprintf("%d included attributes", included),
			"DynamoDB allows %d over all indexes of a table", maxProjectedAttributes)
	}
}

func (t Table) validateKey(f *findings, path string, key Key) {
	t.validateKeyAttribute(f, path+".Partition", key.Partition)
	if key.Sort != "" {
		t.validateKeyAttribute(f, path+".Sort", key.Sort)
		if key.Sort == key.Partition {
			f.add(path+".Sort", quoted(key.Sort), "the sort key is another attribute than the partition key")
		}
	}
}

// validateFurther checks what an index key has beyond a partition key and a sort
// key of one attribute each.
func (t Table) validateFurther(f *findings, path string, index Index) {
	if len(index.FurtherSort) > 0 && index.Key.Sort == "" {
		f.add(path+".FurtherSort", fmt.Sprint(index.FurtherSort),
			"name the first attribute of the sort key as Key.Sort")
	}
	seen := map[string]bool{index.Key.Partition: true, index.Key.Sort: true}
	check := func(part string, names []string) {
		if len(names) >= maxKeyAttributes {
			f.add(path+"."+part, fmt.Sprintf("%d attributes", len(names)),
				"write at most %d: with the attribute of Key they are the %d that DynamoDB allows", maxKeyAttributes-1,
				maxKeyAttributes)
		}
		for i, name := range names {
			at := fmt.Sprintf("%s.%s[%d]", path, part, i)
			if seen[name] && name != "" {
				f.add(at, quoted(name), "an attribute is in the index key once")
			}
			seen[name] = true
			t.validateKeyAttribute(f, at, name)
		}
	}
	check("FurtherPartition", index.FurtherPartition)
	check("FurtherSort", index.FurtherSort)
}

func (t Table) validateKeyAttribute(f *findings, path, name string) {
	switch a, ok := t.Attribute(name); {
	case name == "":
		f.add(path, "", "name the key attribute")
	case !ok:
		f.add(path, quoted(name), "declare the attribute, or name one that is declared")
	case a.Type != String && a.Type != Number && a.Type != Binary:
		f.add(path, fmt.Sprintf("%q, a %s", name, a.Type), "a key attribute is a String, Number or Binary: for a "+
			"flag write a String that only the flagged items have, which makes the index sparse")
	}
}

func (p AccessPattern) validate(f *findings, d Database) {
	path := "AccessPatterns[" + p.Name + "]"
	if !matches(logicalName, p.Name) {
		f.add(path+".Name", quoted(p.Name), "write letters and digits beginning with a capital")
	}
	switch p.Action {
	case TransactWriteItems:
		p.validateTransaction(f, path, d)
		return
	case "":
		f.add(path, "a pattern without an operation", "name a pattern of the platform, or write what it does: "+
			"GetItem, BatchGetItem, Query, PutItem, UpdateItem, DeleteItem or TransactWriteItems")
		return
	}
	if len(p.Writes) > 0 {
		f.add(path+".Writes", fmt.Sprint(len(p.Writes)), "only TransactWriteItems has writes")
	}
	if len(p.Tables) > 0 {
		p.validateTables(f, path, d)
		return
	}
	table, ok := d.Table(p.Table)
	if !ok {
		f.add(path+".Table", quoted(p.Table), "name a declared table")
		return
	}
	switch p.Name {
	case ClaimIdempotencyKey:
		table.validateKept(f, "idempotency keys", "IdempotencyAttributes", IdempotencyAttributes())
	case CountRequest:
		table.validateKept(f, "counters of requests", "RateLimitAttributes", RateLimitAttributes())
	}
	switch p.Action {
	case Query:
		p.validateQuery(f, path, table)
		return
	case GetItem, BatchGetItem:
		p.validateAttributes(f, path, table, func(name string) bool {
			_, ok := table.Attribute(name)
			return ok
		}, table.Name)
	case PutItem, UpdateItem, DeleteItem:
		if p.Consistent || len(p.Attributes) > 0 {
			f.add(path+".Attributes", fmt.Sprint(p.Attributes), "leave Attributes and Consistent out: %s reads nothing",
				p.Action)
		}
	default:
		f.add(path+".Action", quoted(string(p.Action)), "write GetItem, BatchGetItem, Query, PutItem, "+
			"UpdateItem, DeleteItem or TransactWriteItems: a Scan is no access pattern, and a ConditionCheckItem is "+
			"a part of a transaction")
	}
	if p.Index != "" || len(p.KeyConditions) > 0 {
		f.add(path+".Index", quoted(p.Index), "only a Query reads an index or has key conditions: %s takes the "+
			"table's key", p.Action)
	}
}

// validateTables checks a pattern that reads an item of each of several tables.
func (p AccessPattern) validateTables(f *findings, path string, d Database) {
	if p.Action != BatchGetItem || p.Table != "" || p.Index != "" || len(p.KeyConditions) > 0 ||
		len(p.Attributes) > 0 {
		f.add(path+".Tables", fmt.Sprint(p.Tables),
			"a BatchGetItem of several tables reads whole items by their keys: leave Table, Index, KeyConditions and "+
				"Attributes empty")
	}
	unique(f, path+".Tables", p.Tables, itself)
	for _, name := range p.Tables {
		if _, ok := d.Table(name); !ok {
			f.add(path+".Tables", quoted(name), "name a declared table")
		}
	}
}

// validateKept checks that the table has a time to live and the attributes that lambdas/kit writes.
func (t Table) validateKept(f *findings, what, attributes string, needed []Attribute) {
	path := "Tables[" + t.Name + "]"
	if t.TimeToLive == "" {
		f.add(path+".TimeToLive", quoted(""), "name the attribute with the end of an item: the table keeps %s, which "+
			"end", what)
	}
	for _, a := range needed {
		if declared, _ := t.Attribute(a.Name); declared.Type != a.Type {
			f.add(path+".Attributes", quoted(a.Name), "append %s: the table keeps %s", attributes, what)
		}
	}
}

func (p AccessPattern) validateTransaction(f *findings, path string, d Database) {
	if p.Table != "" || p.Index != "" || len(p.KeyConditions) > 0 {
		f.add(path+".Table", quoted(p.Table), "a transaction's writes name their tables: leave Table, Index and "+
			"KeyConditions empty")
	}
	if len(p.Writes) == 0 || len(p.Writes) > maxTransactionWrites {
		f.add(path+".Writes", fmt.Sprint(len(p.Writes)), "a transaction has 1 to %d writes", maxTransactionWrites)
	}
	for i, w := range p.Writes {
		writePath := fmt.Sprintf("%s.Writes[%d]", path, i)
		if _, ok := d.Table(w.Table); !ok {
			f.add(writePath+".Table", quoted(w.Table), "name a declared table")
		}
		switch w.Action {
		case PutItem, UpdateItem, DeleteItem, ConditionCheckItem:
		default:
			f.add(writePath+".Action", quoted(string(w.Action)),
				"write PutItem, UpdateItem, DeleteItem or ConditionCheckItem")
		}
	}
}

func (p AccessPattern) validateQuery(f *findings, path string, table Table) {
	names, partition, projects, where := table.Key.Attributes(), 1, func(name string) bool {
		_, ok := table.Attribute(name)
		return ok
	}, table.Name
	if p.Index != "" {
		index, ok := table.Index(p.Index)
		if !ok {
			f.add(path+".Index", quoted(p.Index), "name an index of %s, or none", table.Name)
			return
		}
		names, partition, projects, where = index.KeyAttributes(), len(index.PartitionAttributes()),
			func(name string) bool {
				return table.Projects(index, name)
			}, index.Name
		if p.Consistent {
			f.add(path+".Consistent", "true", "a global secondary index cannot be read consistently: read the table, "+
				"or accept an eventual read")
		}
	}
	if len(p.KeyConditions) < partition || len(p.KeyConditions) > len(names) {
		f.add(path+".KeyConditions", fmt.Sprint(len(p.KeyConditions)), "write one for each attribute of the "+
			"partition key and at most one for each of the sort key of %s: its key is %v", where, names)
		return
	}
	for i, c := range p.KeyConditions {
		conditionPath := fmt.Sprintf("%s.KeyConditions[%d]", path, i)
		if c.Attribute != names[i] {
			f.add(conditionPath+".Attribute", quoted(c.Attribute), "the key of %s is %v, in this order", where, names)
		}
		switch c.Comparison {
		case Equal:
		case Less, LessOrEqual, Greater, GreaterOrEqual, BeginsWith, Between:
			switch {
			case i < partition:
				f.add(conditionPath+".Comparison", quoted(string(c.Comparison)),
					"the partition key can only be compared with =")
			case i < len(p.KeyConditions)-1:
				f.add(conditionPath+".Comparison", quoted(string(c.Comparison)),
					"only the last attribute that is named can be compared by anything but =")
			}
			if a, _ := table.Attribute(c.Attribute); c.Comparison == BeginsWith && a.Type == Number {
				f.add(conditionPath+".Comparison", quoted(string(c.Comparison)),
					"begins_with does not work on a Number")
			}
		default:
			f.add(conditionPath+".Comparison", quoted(string(c.Comparison)),
				"write =, <, <=, >, >=, begins_with or between")
		}
	}
	for _, name := range p.Filter {
		if slices.Contains(names, name) {
			f.add(path+".Filter", quoted(name), "a filter cannot name an attribute of the key that is queried: use a "+
				"key condition")
		}
		if !projects(name) {
			f.add(path+".Filter", quoted(name), "%s does not project it: include it in the index, or filter on what "+
				"it projects", where)
		}
	}
	if p.Count && len(p.Attributes) > 0 {
		f.add(path+".Attributes", fmt.Sprint(p.Attributes), "a counting query returns no attributes")
	}
	p.validateAttributes(f, path, table, projects, where)
}

func (p AccessPattern) validateAttributes(f *findings, path string, table Table, projects func(string) bool,
	where string) {
	for _, name := range p.Attributes {
		if _, ok := table.Attribute(name); !ok {
			f.add(path+".Attributes", quoted(name), "declare the attribute in %s, or name one that is declared",
				table.Name)
		} else if !projects(name) {
			f.add(path+".Attributes", quoted(name),
				"%s does not project it: include it in the index, or read the item from the table", where)
		}
	}
}

// unique reports names that occur twice, and returns all names.
func unique[T any](f *findings, path string, values []T, nameOf func(T) string) map[string]bool {
	names := map[string]bool{}
	for i, value := range values {
		name := nameOf(value)
		if names[name] {
			f.add(fmt.Sprintf("%s[%d]", path, i), quoted(name), "use each name once")
		}
		names[name] = true
	}
	return names
}

func itself(name string) string { return name }

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%q", text)
}
