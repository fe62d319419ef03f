package check

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// rule is a change of one property that opens, stops or loses something, although the deployment succeeds.
type rule struct {
	// id is the first part of the finding's: it begins with opens- or stops-.
	id string
	// kind is the resource type, and path the property, with dots between levels; * is every name of an object, or
	// every element of a list.
	kind, path string
	// is says how the property changes, or "" if the change is none of those. A missing property is nil.
	is func(before, after any) string
	// fresh is true if it counts in a new resource, too, as a change from nothing.
	fresh bool
	// noun says what the property is; it begins Got. why and do are the finding's.
	noun, why, do string
}

// goes is a property that is no longer there.
func goes(before, after any) string {
	if before == nil || after != nil {
		return ""
	}
	return "goes; it was " + say(before)
}

// changes is a property that was there and is another, or none.
func changes(before, after any) string {
	if before == nil || reflect.DeepEqual(before, after) {
		return ""
	}
	return fmt.Sprintf("changes from %s to %s", say(before), cmp.Or(say(after), "none"))
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
		said := func(v any) string { return cmp.Or(text(v), unset, "no limit") }
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

// pairs returns the values of a path in two resources, by the names of objects, and by the Id, the Region or the place
// of elements of lists.
func pairs(before, after any, path []string, said string) []pair {
	if len(path) == 0 {
		return []pair{{said, before, after}}
	}
	if path[0] != "*" {
		return pairs(at(before, path[0]), at(after, path[0]), path[1:], strings.TrimPrefix(said+"."+path[0], "."))
	}
	was, is := members(before), members(after)
	names := maps.Clone(was)
	maps.Copy(names, is)
	var all []pair
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, pairs(was[name], is[name], path[1:], said+"."+name)...)
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
		object[cmp.Or(text(at(element, "Id")), text(at(element, "Region")), strconv.Itoa(i))] = element
	}
	return object
}

// rules reports what the rules of properties find.
func (c *comparison) rules() {
	for _, id := range slices.Sorted(maps.Keys(c.proposed)) {
		changed, old := c.proposed[id], c.deployed[id]
		if old != nil && old.kind != changed.kind {
			continue
		}
		// One finding has all properties of an id.
		said := map[string]string{}
		for _, r := range propertyRules {
			if r.kind != changed.kind || old == nil && !r.fresh {
				continue
			}
			before := &resource{}
			if old != nil {
				before = old
			}
			for _, p := range pairs(before.properties, changed.properties, strings.Split(r.path, "."), "") {
				how := r.is(p.before, p.after)
				if how == "" {
					continue
				}
				got := fmt.Sprintf("%s (%s) %s", r.noun, p.path, how)
				by := p.path + " of " + changed.place()
				if said[r.id] == "" {
					c.warn(by, r.id, changed, got, r.why, r.do)
					said[r.id] = got
					continue
				}
				// The latest with the id is the one to add to.
				for i := len(c.findings) - 1; i >= 0; i-- {
					if f := &c.findings[i]; f.ID == r.id+":"+id {
						f.Got, f.By = f.Got+", "+got, f.By+"; "+by
						if !strings.Contains(f.Why, r.why) {
							f.Why += " " + r.why
						}
						break
					}
				}
			}
		}
	}
}
