package finding

import (
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// Limits notes each field of a struct that is outside of the limits in its tags. The field is a whole number or a
// duration:
//
//	BatchSize   int           `min:"1" max:"10000" default:"100"`
//	BatchWindow time.Duration `min:"0s" max:"5m" step:"1s" default:"none"`
//
// The values min and max are allowed, and either tag may be missing; a duration is a multiple of step. With the tag
// default the zero value is allowed, too, and stands for what the tag says. path leads to the struct.
//
// It panics if a tag cannot be read: that is a mistake in the source.
func (f *List) Limits(path string, of any) {
	value := reflect.Indirect(reflect.ValueOf(of))
	for _, field := range reflect.VisibleFields(value.Type()) {
		low, bounded := field.Tag.Lookup("min")
		if high := field.Tag.Get("max"); !bounded && high == "" || len(field.Index) > 1 {
			continue
		}
		l := limits{
			low: low, high: field.Tag.Get("max"), step: field.Tag.Get("step"),
			duration: field.Type == reflect.TypeFor[time.Duration](),
		}
		means, optional := field.Tag.Lookup("default")
		got := value.FieldByIndex(field.Index)
		if optional && got.IsZero() || l.has(got.Int()) {
			continue
		}
		remedy := "write one of these"
		if optional {
			remedy = "leave it 0 for " + means
		}
		f.Add(path+"."+field.Name, got.Interface(), l.String(), remedy)
	}
}

// limits are those of one field, as its tags have them.
type limits struct {
	low, high, step string
	duration        bool
}

func (l limits) has(got int64) bool {
	return (l.low == "" || got >= l.read(l.low)) && (l.high == "" || got <= l.read(l.high)) &&
		(l.step == "" || got%l.read(l.step) == 0)
}

func (l limits) read(tag string) int64 {
	if l.duration {
		d, err := time.ParseDuration(tag)
		if err != nil {
			panic(fmt.Sprintf("finding: the tag %q of a duration: %v", tag, err))
		}
		return int64(d)
	}
	n, err := strconv.ParseInt(tag, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("finding: the tag %q of a number: %v", tag, err))
	}
	return n
}

// String is such as "1 to 10000" or "0s to 5m0s in whole seconds".
func (l limits) String() string {
	text := l.text(l.low) + " to " + l.text(l.high)
	switch {
	case l.high == "":
		text = l.text(l.low) + " or more"
	case l.low == "":
		text = "up to " + l.text(l.high)
	}
	if unit := map[string]string{"1s": "seconds", "1m": "minutes", "1h": "hours"}[l.step]; unit != "" {
		text += " in whole " + unit
	}
	return text
}

func (l limits) text(tag string) string {
	if l.duration && tag != "" {
		return time.Duration(l.read(tag)).String()
	}
	return tag
}
