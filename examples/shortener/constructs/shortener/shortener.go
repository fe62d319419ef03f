// Package shortener declares the shortener: everything of it by one call, with secure defaults.
package shortener

import (
	"cmp"
	"time"

	"github.com/aws/constructs-go/constructs/v10"

	"example.com/shortener/links"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
)

// Props configure the shortener. The zero value gives all of it.
type Props struct {
	platform.Props
	platform.UserProps
	platform.LakeProps
}

// Shortener is the platform, with its tables, functions, API, user pool, lake and alarms.
type Shortener struct {
	constructs.Construct
	platform.Platform
}

// New declares the shortener. It ends the program with all that is wrong in the props.
func New(scope constructs.Construct, id string, p Props) *Shortener {
	// A click is in the lake within five seconds. A longer window makes fewer objects, which cost less.
	p.LakeBatchWindow = cmp.Or(p.LakeBatchWindow, 5*time.Second)
	s := &Shortener{}
	platform.Declare(s, scope, id, links.Platform(), platform.Declaration{
		Module: "example.com/shortener", Props: p.Props, UserProps: p.UserProps, LakeProps: p.LakeProps,
	})
	return s
}
