package todo

import (
	"cmp"

	"github.com/onesynth-cdk/onesynth/constructs/nag"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Props configure To-Do. The zero value gives all of it with secure
// defaults.
type Props struct {
	// Props are the props of every platform. JWTIssuer issues the tokens of users. LocalPort is 8081 by default.
	// Functions are "todoapi", "taskpage" and "eraser", which has 300 seconds by default.
	platform.Props
	// UserProps are the props of every platform that people sign in to.
	platform.UserProps
	// LakeProps are the props of every platform that has a lake.
	platform.LakeProps
	// Page adds the page / on which people keep their tasks. They sign in at the construct's own user pool. Default:
	// there is none, and people use the API.
	Page bool
}

// Validate returns a [finding.List] with all invalid props, or nil. [New] does the same first, and
// also checks what depends on the stack's region.
func (p Props) Validate() error { return p.declaration().Validate(p.Described()) }

// Accepted returns the findings of cdk-nag that the platform accepts with these props, in addition
// to the findings that every platform accepts.
func (p Props) Accepted() []nag.Accepted { return platform.AcceptedIn(p.Described()) }

// declaration is what the platform is declared with, with the defaults that are its own.
func (p Props) declaration() platform.Declaration {
	p.LocalPort = cmp.Or(p.LocalPort, 8081)
	return platform.Declaration{Module: module, Accepted: p.Accepted(), Check: p.check, Props: p.Props,
		UserProps: p.UserProps, LakeProps: p.LakeProps}
}

func (p Props) check(f *finding.List, _ string) {
	p.CheckPage(f, p.Page, p.JWTIssuer)
}

// Described returns the platform with the parts that the props choose.
func (p Props) Described() schema.Platform {
	return p.Publishing(todo.With(todo.Parts{Page: p.Page && p.HasOwnPool(p.JWTIssuer)}))
}
