package check

import (
	"cmp"
	_ "embed" // for the rules
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Kinds of rules besides the types of resources: for tables of either type, and for each of their replicas.
const (
	tables  = "tables"
	replica = "replicas of tables"
)

// rule is a change of one property that opens, stops or loses something, although the deployment succeeds.
type rule struct {
	// ID is the first part of the finding's.
	ID string
	// Severity is that of the finding; "" is [Warning].
	Severity Severity
	// Kind is the resource type, and Path the property, with dots between levels; * is any part of a name in an object,
	// and all of it any element of a list. | separates several paths.
	Kind, Path string
	// Is names one of [hows], with its values. Often the first is AWS's value of a property that is missing.
	Is []string
	// Fresh is true if it counts in a new resource, too, as a change from nothing.
	Fresh bool
	// Foreign is true if it counts only with another account in the value, and Stays if only while what the property
	// referred to is still in the template.
	Foreign, Stays bool
	// Noun says what the property is, if its path does not; it begins Got. Why is the finding's.
	Noun, Why string
	// Do is the first step; "" is to leave the property as deployed. Save is what to do before the change in spite of a
	// refusal, for [comparison.fill]; "" if nothing helps.
	Do, Save string

	is how
}

// how says how a property changes, or "" if the change is none of a kind. A missing property is nil.
type how func(before, after any) string

// hows make the functions of rules of their values.
var hows = map[string]func(values ...string) how{
	"becomes":   func(v ...string) how { return becomes(v[0], v[1:]...) },
	"changes":   func(v ...string) how { return changes(v[0]) },
	"cools":     func(...string) how { return cools },
	"descends":  func(v ...string) how { return descends(v[0], v[1:]...) },
	"falls":     func(v ...string) how { return falls(v[0]) },
	"gains":     func(v ...string) how { return gains(v...) },
	"goes":      func(...string) how { return goes },
	"loses":     func(...string) how { return loses },
	"narrows":   func(...string) how { return narrows },
	"off":       func(v ...string) how { return off(v[0]) },
	"rises":     func(v ...string) how { return rises(v[0]) },
	"set":       func(...string) how { return set },
	"shortens":  func(...string) how { return shortens },
	"silently":  func(...string) how { return silently },
	"tenfold":   func(v ...string) how { return tenfold(v[0]) },
	"withdraws": func(...string) how { return withdraws },
}

// rulesText are the rules, in JSON. The meaning and AWS's value of a property that is missing are from the
// CloudFormation template reference, where also stands that a secret gets a new value after each change; that warm
// throughput never falls is from "Understanding DynamoDB warm throughput", developer guide.
//
//go:embed rules.json
var rulesText []byte

// propertyRules are the changes of single properties that open, stop or lose something, or that need care.
var propertyRules = sync.OnceValue(func() []rule {
	var all []rule
	if err := json.Unmarshal(rulesText, &all); err != nil {
		panic(err) // The rules are a part of the program.
	}
	for i, r := range all {
		all[i].is = hows[r.Is[0]](r.Is[1:]...)
	}
	return all
})

// goes is a property that is no longer there, or empty.
func goes(before, after any) string {
	empty := func(v any) bool { return v == nil || text(v) == "{}" || text(v) == "[]" }
	if empty(before) || !empty(after) {
		return ""
	}
	return "goes; it was " + say(before)
}

// changes is a property that has another value, or none. unset is AWS's for one that is missing; with "" it has to have
// been there.
func changes(unset string) func(before, after any) string {
	return func(before, after any) string {
		if before == nil && unset == "" || cmp.Or(text(before), unset) == cmp.Or(text(after), unset) {
			return ""
		}
		return fmt.Sprintf("changes from %s to %s", cmp.Or(say(before), unset), cmp.Or(say(after), unset, "none"))
	}
}

// silently is a property that changes, and whose values are secret.
func silently(before, after any) string {
	if reflect.DeepEqual(before, after) {
		return ""
	}
	return "changes"
}

// cools is an index whose warm throughput falls. An index that goes or is replaced loses it.
func cools(before, after any) string {
	var got []string
	for _, units := range []string{"ReadUnitsPerSecond", "WriteUnitsPerSecond"} {
		how := falls("")(at(before, "WarmThroughput", units), at(after, "WarmThroughput", units))
		same := func(part string) bool { return reflect.DeepEqual(at(before, part), at(after, part)) }
		if how != "" && same("KeySchema") && same("Projection") {
			got = append(got, how+" ("+units+")")
		}
	}
	return join(got)
}

// shortens is a recovery that is on, and no longer reaches back as far.
func shortens(before, after any) string {
	const on, days = "PointInTimeRecoveryEnabled", "RecoveryPeriodInDays"
	if text(at(before, on)) != "true" || text(at(after, on)) != "true" {
		return ""
	}
	return falls("35")(at(before, days), at(after, days))
}

// set is a property that gets a value which it did not have.
func set(before, after any) string {
	if after == nil || reflect.DeepEqual(before, after) {
		return ""
	}
	return fmt.Sprintf("becomes %s, and was %s", say(after), cmp.Or(say(before), "none"))
}

// becomes is a property that gets one of the values. unset is AWS's for one that is missing.
func becomes(unset string, values ...string) func(before, after any) string {
	return func(before, after any) string {
		was, is := cmp.Or(text(before), unset), cmp.Or(text(after), unset)
		if slices.Contains(values, was) || !slices.Contains(values, is) {
			return ""
		}
		return fmt.Sprintf("becomes %s, and was %s", is, cmp.Or(was, "none"))
	}
}

// off is a switch that was on.
func off(unset string) func(before, after any) string {
	return func(before, after any) string {
		if cmp.Or(text(before), unset) != "true" || cmp.Or(text(after), unset) == "true" {
			return ""
		}
		return "is switched off"
	}
}

// descends is a property whose value comes later in the order than it did.
func descends(unset string, order ...string) func(before, after any) string {
	return func(before, after any) string {
		was, is := slices.Index(order, cmp.Or(text(before), unset)), slices.Index(order, cmp.Or(text(after), unset))
		if was < 0 || is <= was {
			return ""
		}
		return fmt.Sprintf("falls from %s to %s", order[was], order[is])
	}
}

// number is a number that moves in the direction, 1 or -1. A property that is missing has the value unset. With "" a
// number that was missing does not move, and one that goes is the highest, as -1 is.
func number(direction float64, verb, unset string) func(before, after any) string {
	return func(before, after any) string {
		if before == nil && unset == "" {
			return ""
		}
		value := func(v any) (float64, bool) {
			said := cmp.Or(text(v), unset)
			if said == "" || said == "-1" {
				return 1e18, true
			}
			n, err := strconv.ParseFloat(said, 64)
			return n, err == nil
		}
		was, known := value(before)
		is, also := value(after)
		if !known || !also || (is-was)*direction <= 0 {
			return ""
		}
		said := func(v any) string {
			if v == nil && (unset == "" || unset == "-1") {
				return "no limit"
			}
			return cmp.Or(text(v), unset)
		}
		return fmt.Sprintf("%s from %s to %s", verb, said(before), said(after))
	}
}

func falls(unset string) func(before, after any) string { return number(-1, "falls", unset) }
func rises(unset string) func(before, after any) string { return number(1, "rises", unset) }

// gains is a list with further elements; of some values, if there are any.
func gains(only ...string) func(before, after any) string {
	return func(before, after any) string {
		more := missing(values(after), values(before))
		if len(only) > 0 {
			more = slices.DeleteFunc(more, func(said string) bool { return !slices.Contains(only, said) })
		}
		if len(more) == 0 {
			return ""
		}
		return "gets " + join(more)
	}
}

// loses is a list that had elements which it no longer has.
func loses(before, after any) string {
	if less := missing(values(before), values(after)); len(less) > 0 {
		return "loses " + join(less)
	}
	return ""
}

// narrows is a list of alternatives that begins to limit, or that has fewer of those it had. Without any, nothing is
// limited.
func narrows(before, after any) string {
	was, is := values(before), values(after)
	switch {
	case len(is) == 0:
		return ""
	case len(was) == 0:
		return "begins to take only " + say(after)
	}
	return loses(before, after)
}

// withdraws is a list without an element that it had, unless it has a * for all.
func withdraws(before, after any) string {
	if contains(values(after), "*") {
		return ""
	}
	return loses(before, after)
}

// rate is a schedule at an interval.
var rate = regexp.MustCompile(`^rate\((\d+) (minute|hour|day)s?\)$`)

// tenfold is a number, or the interval of a schedule, that is ten times as high or low, or more. unset is AWS's value
// of one that is missing; with "" it has to have been there.
func tenfold(unset string) func(before, after any) string {
	amount := func(v any) float64 {
		said, unit := cmp.Or(text(v), unset), 1.0
		if parts := rate.FindStringSubmatch(said); parts != nil {
			said, unit = parts[1], map[string]float64{"minute": 60, "hour": 3600, "day": 86400}[parts[2]]
		}
		n, err := strconv.ParseFloat(said, 64)
		if err != nil {
			return 0
		}
		return cmp.Or(n*unit, 1)
	}
	return func(before, after any) string {
		was, is := amount(before), amount(after)
		if was*is <= 0 || was/is < 10 && is/was < 10 {
			return ""
		}
		return fmt.Sprintf("changes tenfold or more, from %s to "+
			"%s", cmp.Or(say(before), unset), cmp.Or(say(after), unset))
	}
}

// accountIn matches the account in an ARN.
var accountIn = regexp.MustCompile(`:\d{12}:`)

// foreign reports whether the value names an account that is not the stack's, and that it did not name before.
func (c *comparison) foreign(p pair) bool {
	return slices.ContainsFunc(accountIn.FindAllString(text(p.after), -1), func(account string) bool {
		return account != ":"+c.environment.Account+":" && !strings.Contains(text(p.before), account)
	})
}

// missing returns what is said of the values that are not among the others.
func missing(of, among []any) []string {
	var all []string
	for _, v := range of {
		if !contains(among, v) {
			all = append(all, say(v))
		}
	}
	return all
}

// pair is a property before and after.
type pair struct {
	path          string
	before, after any
}

// turns says how the property changes.
func (p pair) turns() string { return turns(p.path, say(p.before), say(p.after)) }

// pairs returns the values of a path in two resources, by the names of objects, and by the Id, the Region, the name of
// an index, the name or the place of elements of lists.
func pairs(before, after any, path []string, said string) []pair {
	if len(path) == 0 {
		return []pair{{said, before, after}}
	}
	if !strings.Contains(path[0], "*") {
		return pairs(at(before, path[0]), at(after, path[0]), path[1:], strings.TrimPrefix(said+"."+path[0], "."))
	}
	was, is := members(before), members(after)
	names := maps.Clone(was)
	maps.Copy(names, is)
	var all []pair
	for name := range sorted(names) {
		if matches(path[0], name) {
			all = append(all, pairs(was[name], is[name], path[1:], strings.TrimPrefix(said+"."+name, "."))...)
		}
	}
	return all
}

// pathPairs returns the values of several paths, which | separates.
func pathPairs(before, after any, paths string) []pair {
	var all []pair
	for path := range strings.SplitSeq(paths, "|") {
		all = append(all, pairs(before, after, strings.FieldsFunc(path, func(r rune) bool { return r == '.' }), "")...)
	}
	return all
}

// members returns the members of an object, or the elements of a list by a name.
func members(v any) map[string]any {
	object, ok := v.(map[string]any)
	if ok {
		return maps.Clone(object)
	}
	object = map[string]any{}
	for i, element := range list(v) {
		name := cmp.Or(text(at(element, "Id")), text(at(element, "Region")), text(at(element, "IndexName")),
			text(at(element, "Name")), strconv.Itoa(i))
		object[name] = element
	}
	return object
}

// rules reports what the rules of a kind find between two objects, which are properties of the resource, or of a part
// of it that where names. old is nil if the resource is new. One finding has all of an id.
func (c *comparison) rules(kind, where string, old, changed *resource, before, after any) {
	first := len(c.findings)
	for _, r := range propertyRules() {
		if r.Kind != kind || old == nil && !r.Fresh {
			continue
		}
		id, noun := r.ID, r.Noun
		if where != "" {
			id, noun = id+"-"+where, noun+" in "+where // Rules of parts have nouns.
		}
		for _, p := range pathPairs(before, after, r.Path) {
			how := r.is(p.before, p.after)
			if how == "" || r.Foreign && !c.foreign(p) || r.Stays && c.refersToRemoved(p.before) {
				continue
			}
			c.judge(changed, p.path)
			got, by := p.path+" "+how, p.path+" of "+changed.constructPath()
			if noun != "" {
				got = fmt.Sprintf("%s (%s) %s", noun, p.path, how)
			}
			same := func(f Change) bool { return f.ID == id+":"+changed.id }
			if i := slices.IndexFunc(c.findings[first:], same); i >= 0 {
				f := &c.findings[first+i]
				f.Got, f.By = f.Got+", "+got, f.By+"; "+by
				if !strings.Contains(f.Why, r.Why) {
					f.Why += " " + r.Why
				}
				continue
			}
			keep := cmp.Or(r.Do, "Leave it as deployed.")
			switch {
			case r.Severity != Refusal:
				c.warn(by, id, changed, got, r.Why, keep)
			case r.Save == "":
				c.addBy(by, Refusal, id, changed, got, r.Why, do("%s", keep))
			default:
				c.addBy(by, Refusal, id, changed, got, r.Why,
					do("%s", keep), do("If it has to be: %s. Then accept this finding.", c.fill(r.Save, old)))
			}
		}
	}
}
