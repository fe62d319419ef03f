package askahuman

import "github.com/onesynth-cdk/onesynth/schema"

// Described returns the platform with the parts that the props choose.
func (p Props) Described() schema.Platform { return p.described() }
