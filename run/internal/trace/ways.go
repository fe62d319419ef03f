package trace

import (
	"slices"
	"strings"
)

// Way is one that requests or calls went.
type Way struct {
	// Kind is that of the requests; empty: it is a way of calls.
	Kind Kind
	// Stack and API are those of requests of an API.
	Stack, API string
	// From is the route of requests of an API; of others the schedule, table, queue, bucket, bus or user pool that
	// caused them. Of calls it is the function that made them.
	From string
	// To is the name of the function that was invoked; empty for all requests of the route, also those that reached
	// none. Of calls it is the ARN of what they are for.
	To string
}

// Count is how often requests or calls went a way, and how many of these failed.
type Count struct {
	All, Failed int
}

// maxWays is how many ways a Recorder counts: the functions of a run may call what the assembly does not name.
const maxWays = 5_000

// Ways returns the ways that requests have gone since the start of the run, also those that are no longer kept. What
// is under way counts when it has ended.
func (r *Recorder) Ways() map[Way]Count {
	counts := map[Way]Count{}
	if r == nil {
		return counts
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for way, count := range r.ways {
		counts[way] = *count
	}
	return counts
}

func (r *Recorder) countLocked(way Way, failed bool) {
	count := r.ways[way]
	if count == nil {
		if len(r.ways) == maxWays {
			return
		}
		count = &Count{}
		r.ways[way] = count
	}
	count.All++
	if failed {
		count.Failed++
	}
}

// countRequestLocked counts a request that has ended, once for each function.
func (r *Recorder) countRequestLocked(kept *request) {
	way := Way{Kind: kept.Kind, From: kept.cause()}
	failed := Failed.has(kept)
	if kept.Kind == HTTP {
		way.Stack, way.API = kept.Stack, kept.API
		r.countLocked(way, failed)
	}
	for n, i := range kept.invocations {
		if slices.ContainsFunc(kept.invocations[:n], func(other *invocation) bool {
			return other.function == i.function
		}) {
			continue
		}
		way.To = i.function
		r.countLocked(way, failed)
	}
}

// cause is what caused a request, without what differs from one to the next.
func (o Origin) cause() string {
	cause := o.Path
	switch o.Kind {
	case HTTP:
		cause = o.Route
	case Objects: // BUCKET/KEY
		cause, _, _ = strings.Cut(o.Path, "/")
	case Bus: // BUS TYPE
		cause, _, _ = strings.Cut(o.Path, " ")
	}
	return cause
}
