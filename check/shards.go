package check

import (
	"fmt"
	"strconv"
	"strings"
)

// The variables of functions that spread their writes over several partition keys: the number of keys that they write,
// and the number that they read. docs/operate/scale.md has the rules. They apply to every function with these
// variables.
const (
	writtenShards = "SHARDS"
	readShards    = "READ_SHARDS"
	// tableVariable ends the name of a variable with the name of a table (schema.Table.EnvironmentVariable).
	tableVariable = "_TABLE"
)

// sharding is the use of shards by the functions of one table.
type sharding struct {
	// written is the highest number that any of them writes; least and most are the lowest and the highest that any
	// reads.
	written, least, most int
	// function is the first of them, by logical id.
	function *resource
}

// shardings returns the sharding of each table that functions have a variable for.
func shardings(resources map[string]*resource) map[string]sharding {
	tables := map[string]sharding{}
	for function := range of(resources, lambdaFunction) {
		variables, _ := function.at("Environment", "Variables").(map[string]any)
		written, err := strconv.Atoi(text(variables[writtenShards]))
		if err != nil {
			continue
		}
		read := written
		if declared := variables[readShards]; declared != nil {
			if read, err = strconv.Atoi(text(declared)); err != nil {
				continue
			}
		}
		written = max(written, 1)
		read = max(read, written)
		for name, value := range variables {
			if !strings.HasSuffix(name, tableVariable) {
				continue
			}
			s, ok := tables[text(value)]
			if !ok {
				s = sharding{least: read, function: function}
			}
			s.written, s.least, s.most = max(s.written, written), min(s.least, read), max(s.most, read)
			tables[text(value)] = s
		}
	}
	return tables
}

// shards reports functions that would write items that others do not read. During a deployment functions of both
// configurations run.
func (c *comparison) shards() {
	deployed, proposed := shardings(c.deployed), shardings(c.proposed)
	// Functions use several tables, with the same numbers for each: report them once.
	said := map[string]bool{}
	for table, changed := range sorted(proposed) {
		old, ok := deployed[table]
		same := old.written == changed.written && old.least == changed.least && old.most == changed.most
		if !ok || same || said[changed.function.id] {
			continue
		}
		by := fmt.Sprintf("%s and %s of %s", writtenShards, readShards, changed.function.constructPath())
		writes := fmt.Sprintf("%s goes from %d to %d", writtenShards, old.written, changed.written)
		reads := fmt.Sprintf("%s goes from %d to %d", readShards, old.most, changed.least)
		switch {
		case changed.written > old.least:
			c.addBy(by, Refusal, "shards", changed.function,
				fmt.Sprintf("%s, and deployed functions read %d", writes, old.least),
				"Until the last function is replaced, functions of the old configuration do not find what new ones "+
					"have written. After a rollback they do not find it either.",
				deploy("", "this template, but with %s %d and %s %d: all functions read what any will write.",
					writtenShards, min(old.written, old.least), readShards, max(changed.most, old.most)),
				do("Wait until it is complete. docs/operate/scale.md has the props of these variables, and the rules."),
				deploy("", "this template."))
		case changed.least < old.written:
			c.addBy(by, Refusal, "shards", changed.function,
				fmt.Sprintf("%s, and deployed functions write %d", reads, old.written),
				"Functions no longer read the items under the keys of higher numbers, which disappear from lists "+
					"and rankings.",
				deploy("", "this template, but with %s %d and %s %d: nothing new is written under the keys of "+
					"higher numbers, and all are read.", writtenShards, changed.written, readShards, old.most),
				do("Wait until nothing is left under the keys of higher numbers: docs/operate/scale.md says when "+
					"that is, and how to count it."),
				deploy("", "this template."))
		case changed.least < old.most:
			c.addBy(by, Warning, "shards", changed.function, reads,
				"Functions no longer read items that are still under the keys of higher numbers.",
				do("Make sure that nothing is left under them: docs/operate/scale.md says when that is, and how to "+
					"count it."))
		default:
			continue
		}
		said[changed.function.id] = true
	}
}
