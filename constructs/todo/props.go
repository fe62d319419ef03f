package todo

import (
	"cmp"

	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/finding"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// Props configure To-Do. The zero value gives all of it with secure
// defaults.
type Props struct {
	// Props are the props of every platform. JWTIssuer issues the tokens of users. LocalPort is 8081 by default.
	// Functions are "todoapi" and "eraser", which has 300 seconds by default.
	platform.Props
	// UserProps are the props of every platform that people sign in to.
	platform.UserProps
	// LakeProps are the props of every platform that has a lake.
	platform.LakeProps
}

// Validate returns a [finding.List] with all invalid props, or nil. [New] does the same first, and
// also checks what depends on the stack's region.
func (p Props) Validate() error { return p.validate("") }

func (p Props) validate(region string) error {
	var f finding.List
	p.Props.Check(&f, "Props", region, todo.Platform())
	p.UserProps.Check(&f, "Props", p.JWTIssuer, todo.Platform())
	p.LakeProps.Check(&f, "Props")
	return f.Err()
}

// withDefaults returns the props with their defaults filled in, except for the defaults that
// another construct fills in.
func (p Props) withDefaults() Props {
	p.LocalPort = cmp.Or(p.LocalPort, 8081)
	return p
}
