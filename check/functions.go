package check

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"strconv"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
)

// storeVariable are the names of variables that name a store, where their values are texts.
var storeVariable = regexp.MustCompile(`(TABLE|BUCKET|SECRET|QUEUE|STREAM|BUS)(_NAME|_ARN|_URL|_ID)?$`)

// variables reports variables of a function that name another store or secret than they did.
func (c *comparison) variables(old, changed *resource) {
	was, is := members(old.at("Environment", "Variables")), members(changed.at("Environment", "Variables"))
	var got, by []string
	for name, value := range sorted(was) {
		store := c.deployed[firstOf(intrinsic.References(value))]
		switch {
		case store == nil && !storeVariable.MatchString(name):
			continue
		case store != nil && kinds[store.kind].severity == "", store != nil && c.proposed[store.id] == nil:
			// It is no store, or its drop is another finding.
			continue
		case reflect.DeepEqual(value, is[name]), identity(c.deployed, value) == identity(c.proposed, is[name]):
			continue
		case is[name] == nil && !reflect.DeepEqual(old.at("Code"), changed.at("Code")):
			// New code may not need it.
			continue
		}
		now := cmp.Or(say(is[name]), "nothing")
		got = append(got, fmt.Sprintf("the variable %s names %s, and named %s", name, now, say(value)))
		by = append(by, name+" of "+changed.constructPath())
		c.judge(changed, name)
	}
	if len(got) > 0 {
		c.warn(lines(by), "stops-variable", changed, join(got),
			"The function no longer finds what it has written: items, objects, messages, or what was signed with "+
				"the old secret. It all stays where it was, and nothing fails.",
			"Leave the variable as deployed, or move the content first, while nothing writes.")
	}
}

// visibility reports queues whose messages come again while their function still has them ("Configuring an Amazon SQS
// queue to use with Lambda", AWS Lambda developer guide: at least six times the function's time-out). AWS Lambda
// refuses a new mapping if the queue hides messages for less than that time-out (CreateEventSourceMapping).
func (c *comparison) visibility() {
	// lacks is 0 if the time is enough, 1 if it is below six times the time-out, and 2 if it is below that.
	short := func(resources map[string]*resource, mapping *resource) (q *resource, seconds, timeout, lacks int) {
		q = resources[firstOf(intrinsic.References(mapping.at("EventSourceArn")))]
		function := resources[firstOf(intrinsic.References(mapping.at("FunctionName")))]
		if q == nil || function == nil || q.kind != queue || function.kind != lambdaFunction {
			return nil, 0, 0, 0
		}
		seconds, errSeconds := strconv.Atoi(cmp.Or(text(q.at("VisibilityTimeout")), "30"))
		timeout, errTimeout := strconv.Atoi(cmp.Or(text(function.at("Timeout")), "3"))
		switch {
		case errSeconds != nil || errTimeout != nil || seconds >= 6*timeout:
			return q, seconds, timeout, 0
		case seconds >= timeout:
			return q, seconds, timeout, 1
		}
		return q, seconds, timeout, 2
	}
	reported := map[string]bool{}
	for mapping := range of(c.proposed, eventSourceMapping) {
		q, seconds, timeout, lacks := short(c.proposed, mapping)
		had, old := 0, c.deployed[mapping.id]
		if old != nil && old.kind == eventSourceMapping {
			_, _, _, had = short(c.deployed, old)
		}
		if lacks <= had || reported[q.id] {
			continue
		}
		reported[q.id] = true
		by, got := "VisibilityTimeout of "+q.constructPath(),
			fmt.Sprintf("messages are hidden for %d seconds, and the function may take %d", seconds, timeout)
		keep := fmt.Sprintf("Set it to at least six times the function's time-out: %d.", 6*timeout)
		if lacks == 2 && old == nil {
			c.addBy(by, Refusal, "stops-visibility", q, got, "AWS Lambda refuses the mapping (\"Queue visibility "+
				"timeout is less than Function timeout\"): the deployment fails and rolls back.", do("%s", keep))
			continue
		}
		c.warn(by, "stops-visibility", q, got, "A message comes again while the function still has it, or waits for a "+
			"free instance: it is handled twice, and counts as failed too early.", keep)
	}
}
