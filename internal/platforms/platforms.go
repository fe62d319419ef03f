// Package platforms lists this module's platforms. The CDK app, the checks that every platform passes, and the
// documents' tests range over the list, so a further platform is one more line in [All].
//
// An importer of one platform imports that construct, and not this package.
package platforms

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/clarity"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/lingible"
	"github.com/onesynth-cdk/onesynth/constructs/nag"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
	askahumanplatform "github.com/onesynth-cdk/onesynth/platforms/askahuman"
	clarityplatform "github.com/onesynth-cdk/onesynth/platforms/clarity"
	lingibleplatform "github.com/onesynth-cdk/onesynth/platforms/lingible"
	todoplatform "github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// All returns the platforms, each with the zero props.
func All() []*Platform {
	return []*Platform{
		list("AskAHuman", "AI agents ask, people answer", askahuman.New, askahuman.Handlers,
			func(p *askahuman.Props) *platform.Props { return &p.Props },
			askahumanplatform.Platform(),
			askahumanplatform.With(askahumanplatform.Parts{AgentKeys: true, ShareOptions: true, OperatorPage: true})),
		list("Todo", "users keep tasks, and their changes fill a lake", todo.New, todo.Handlers,
			func(p *todo.Props) *platform.Props { return &p.Props },
			todoplatform.Platform(), todoplatform.With(todoplatform.Parts{Page: true})),
		list("Clarity", "people train critical thinking, and their profiles show how they develop", clarity.New,
			clarity.Handlers,
			func(p *clarity.Props) *platform.Props { return &p.Props },
			clarityplatform.Platform(), clarityplatform.With(clarityplatform.Parts{Page: true})),
		list("Lingible", "people translate slang, and keep its lexicon", lingible.New, lingible.Handlers,
			func(p *lingible.Props) *platform.Props { return &p.Props },
			lingibleplatform.Platform(), lingibleplatform.With(lingibleplatform.Parts{Page: true})),
	}
}

// Platform is a platform of this module with its props.
type Platform struct {
	// ID is the id of its construct in a stack, such as "AskAHuman".
	ID string
	// Purpose describes in a few words what the platform is for.
	Purpose string
	// Schema describes it with the zero props, and Whole with all parts that props can add.
	Schema, Whole schema.Platform
	// Props points to the props, such as *askahuman.Props.
	Props Props

	common   *platform.Props
	declare  func(scope constructs.Construct) Declared
	handlers func(gofunction.Architecture) gofunction.Source
}

// Props are the props of a platform.
type Props interface {
	// Validate returns a finding.List with all invalid props, or nil.
	Validate() error
	// Accepted returns the findings of cdk-nag that the platform accepts with the props, in
	// addition to the findings that every platform accepts.
	Accepted() []nag.Accepted
}

// Declared is the construct of a platform.
type Declared interface {
	constructs.Construct
	// Accepted is as [platform.Platform.Accepted].
	Accepted() []nag.Accepted
}

// list describes a platform. The first schema describes it with the zero props, and the last
// has all parts that props add.
func list[P Props, C Declared](
	id, purpose string,
	declare func(constructs.Construct, string, P) C,
	handlers func(gofunction.Architecture) gofunction.Source,
	common func(*P) *platform.Props,
	schemas ...schema.Platform,
) *Platform {
	props := new(P)
	return &Platform{
		ID: id, Purpose: purpose, Schema: schemas[0], Whole: schemas[len(schemas)-1],
		Props:    any(props).(Props),
		common:   common(props),
		declare:  func(scope constructs.Construct) Declared { return declare(scope, id, *props) },
		handlers: handlers,
	}
}

// Name returns the platform's name in package paths, stack names and cdk.json, such as "askahuman".
func (p *Platform) Name() string { return p.Schema.Name }

// Common returns the props that every platform has.
func (p *Platform) Common() *platform.Props { return p.common }

// Handlers returns the source of the platform's functions for [gofunction.Start], with the processor of the props.
func (p *Platform) Handlers() gofunction.Source {
	source := p.handlers(p.common.Architecture)
	if !p.common.Events {
		source.Packages = slices.DeleteFunc(source.Packages, func(folder string) bool {
			return path.Base(folder) == schema.EventPublisher
		})
	}
	return source
}

// Build begins to build the functions of the platforms, as [gofunction.Start] does, and sets the Build of their props.
// One run of the Go toolchain builds all functions for a processor, because packages that the platforms share take most
// of the time.
func Build(ctx context.Context, list []*Platform) {
	sources := map[gofunction.Architecture]gofunction.Source{}
	for _, p := range list {
		own := p.Handlers()
		all := sources[own.Architecture]
		own.Packages = append(all.Packages, own.Packages...)
		sources[own.Architecture] = own
	}
	builds := map[gofunction.Architecture]*gofunction.Build{}
	for architecture, source := range sources {
		builds[architecture] = gofunction.Start(ctx, source)
	}
	for _, p := range list {
		p.common.Build = builds[p.common.Architecture]
	}
}

// Declare declares the platform in the scope, a stack, with its props. Like the New of its
// construct, it ends the program if the props are invalid.
func (p *Platform) Declare(scope constructs.Construct) Declared { return p.declare(scope) }

// embedded matches the parts of a field's path that name embedded types of constructs/platform.
var embedded = regexp.MustCompile(`\b(Props|UserProps|LakeProps)\.`)

// Configure returns the platforms as an environment of cdk.json describes them. The environment is a JSON object with
// the props of platforms, by the platforms' names. Names match in any case, as in package encoding/json. A missing
// platform has the zero props. An unknown platform or prop is an error. A duration is a text such as "90s" or "1h30m",
// or nanoseconds.
func Configure(environment []byte) ([]*Platform, error) {
	all := All()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(environment, &members); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		i := slices.IndexFunc(all, func(p *Platform) bool { return strings.EqualFold(p.Name(), name) })
		if i < 0 {
			return nil, fmt.Errorf("json: unknown field %q", name)
		}
		props, err := withDurations(members[name], reflect.TypeOf(all[i].Props).Elem())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		decoder := json.NewDecoder(bytes.NewReader(props))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(all[i].Props); err != nil {
			if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				// The error names embedded structs, which cdk.json does not have.
				wrong.Field = embedded.ReplaceAllString(wrong.Field, "")
			}
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

// withDurations writes the texts of an object as nanoseconds where the props have durations. What is no object stays.
func withDurations(object []byte, props reflect.Type) ([]byte, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return object, nil
	}
	for name, value := range members {
		field, ok := props.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
		var text string
		if !ok || field.Type != reflect.TypeFor[time.Duration]() || json.Unmarshal(value, &text) != nil {
			continue
		}
		duration, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("%s: got %q: write a duration such as 90s or 1h30m", name, text)
		}
		members[name] = strconv.AppendInt(nil, int64(duration), 10)
	}
	return json.Marshal(members)
}
