package platform

import (
	"time"

	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/finding"
)

// LakeProps are the props of a platform that has lakes: each holds for all of them. The
// platform's own Props embed them beside [Props].
type LakeProps struct {
	// LakeBatchWindow is how long changes are gathered before they land in the lake, at
	// most: see [lake.Props.BatchWindow]. Default: 2 minutes.
	LakeBatchWindow time.Duration
	// CompactEvery is how often the lake's small objects are merged: see
	// [lake.Props.CompactEvery]. Default: 1 hour.
	CompactEvery time.Duration
	// LakeFirstDay is the day (UTC) of the lake's first change, with which queries begin:
	// see [lake.Props.FirstDay]. Default: 2026-11-01, or what LakeRetentionDays keep.
	LakeFirstDay string
	// LakeRetentionDays is after how many days the lake's objects are deleted.
	// Default: they stay.
	LakeRetentionDays int
	// QueryLimitBytes ends a query of the lake that reads more: see
	// [lake.Props.QueryLimitBytes]. Default: 10,000,000,000.
	QueryLimitBytes int64
}

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

// Check adds a finding for each of the props that is invalid. path leads to the props as
// an importer writes it: "Props" for a platform that embeds them.
func (p LakeProps) Check(f *finding.List, path string) {
	lake.CheckBatchWindow(f, path+".LakeBatchWindow", p.LakeBatchWindow)
	lake.CheckCompactEvery(f, path+".CompactEvery", p.CompactEvery)
	lake.CheckFirstDay(f, path+".LakeFirstDay", p.LakeFirstDay, p.LakeRetentionDays)
	lake.CheckRetentionDays(f, path+".LakeRetentionDays", p.LakeRetentionDays)
	lake.CheckQueryLimit(f, path+".QueryLimitBytes", p.QueryLimitBytes)
}
