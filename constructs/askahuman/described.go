package askahuman

import "github.com/onesynth-cdk/onesynth/schema"

// Described is the platform with the parts that the props choose.
func (p Props) Described() schema.Platform { return p.described() }
