package lake

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
)

// tasks are n records as the stream would give them of users at work: created,
// changed and completed, with texts of usual length.
func tasks(b *testing.B, n int) []json.RawMessage {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"call", "write", "the", "report", "plan", "team", "about", "invoice", "for", "review", "meeting",
		"buy", "milk", "tickets", "before", "friday"}
	sentence := func(n int) string {
		s := words[random.IntN(len(words))]
		for range n - 1 {
			s += " " + words[random.IntN(len(words))]
		}
		return s
	}
	hexadecimal := func() string { return fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()) }
	var all []json.RawMessage
	for i := range n {
		user := fmt.Sprintf("%032x", random.IntN(200)*7919)
		at := int64(day + i/20)
		image := item{
			"PK": text("TASK#" + user), "SK": text("TASK#0193" + hexadecimal()[:28]), "GSI1PK": text("OWNER#" + user),
			"GSI1SK": text("STATUS#pending#x"), "title": text(sentence(5)), "status": text(statuses[random.IntN(3)]),
			"created_at": numeric(fmt.Sprint(at - int64(random.IntN(100_000)))), "updated_at": numeric(fmt.Sprint(at)),
			"version": numeric(fmt.Sprint(1 + random.IntN(9))),
		}
		if i%2 == 0 {
			image["description"] = text(sentence(15))
			image["due_date"] = text(time.Unix(at, 0).UTC().AddDate(0, 0, random.IntN(60)).Format(time.DateOnly))
		}
		if i%3 != 0 {
			image["category"] = text(words[random.IntN(8)])
			image["priority"] = text([]string{"low", "medium", "high", "urgent"}[random.IntN(4)])
		}
		c := change{id: hexadecimal(), name: "MODIFY", sequence: fmt.Sprintf("%d00000000000%010d", 4421584, i*3),
			time: at, keys: item{"PK": image["PK"], "SK": image["SK"]}, old: image, new: image}
		all = append(all, c.json(b))
	}
	return all
}

func (m *memory) bytes() (total int) {
	for _, content := range m.objects {
		total += len(content)
	}
	return total
}

// BenchmarkWriter makes objects of batches of records, from their JSON on.
func BenchmarkWriter(b *testing.B) {
	for _, size := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			m := newMemory()
			w := writerTo(b, m)
			batch := trigger.Records{Records: tasks(b, size)}
			for b.Loop() {
				must.OK(b, w.Handle(b.Context(), batch))
			}
			b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(m.bytes())/float64(size), "B/row")
		})
	}
}

// BenchmarkCompactor merges a hundred objects.
func BenchmarkCompactor(b *testing.B) {
	const objects, size = 100, 1000
	all := tasks(b, objects*size)
	written := newMemory()
	w := writerTo(b, written)
	for i := range objects {
		must.OK(b, w.Handle(b.Context(), trigger.Records{Records: all[i*size : (i+1)*size]}))
	}
	var merged *memory
	for b.Loop() {
		merged = newMemory()
		for key, content := range written.objects {
			merged.objects[key] = content
		}
		c := compactorOf(b, merged)
		if report, err := c.Run(b.Context()); err != nil || report.Rows != objects*size {
			b.Fatal(report, err)
		}
	}
	b.ReportMetric(float64(objects*size*b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(merged.bytes())/(objects*size), "B/row")
}
