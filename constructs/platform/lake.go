package platform

import "github.com/onesynth-cdk/onesynth/constructs/lake"

// LakeProps are the props of a platform with lakes. Each applies to all of its lakes. The platform's own Props embed
// them beside [Props].
type LakeProps = lake.Options

// firstLake is the construct id of a platform's first lake.
const firstLake = "Lake"

// declaredLake is a lake as alarms, dashboard and outputs name it.
type declaredLake struct {
	*lake.Lake
	// id is its construct id. name is empty for the platform's first lake, and otherwise a
	// space and its name.
	id, name string
}

// of names the lake after one of its parts, unless it is the first.
func (l declaredLake) of() string {
	if l.name == "" {
		return ""
	}
	return " of the lake" + l.name
}

// lakes are those of the platform, in the order of the schema.
func (p *Platform) lakes() []declaredLake {
	var all []declaredLake
	for _, described := range p.Schema.Lakes {
		l := declaredLake{Lake: p.Lakes[described.Name], id: p.Schema.LakeID(described.Name)}
		if l.id != firstLake {
			l.name = " " + described.Name
		}
		all = append(all, l)
	}
	return all
}
