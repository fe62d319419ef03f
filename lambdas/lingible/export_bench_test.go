package lingible_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// many is a client with that many terms, the initial ones again and again, which it makes as they are read.
type many struct {
	dynamo.Client
	initial []lingible.Entry
	terms   int
	// slugs are those of all terms, and at where each is among them.
	slugs  []string
	at     map[string]int
	export dynamo.Item
}

func newMany(b *testing.B, terms int) *many {
	b.Helper()
	initial := must.Get(lexicons.Initial())(b)
	m := &many{initial: initial, terms: terms, at: map[string]int{}}
	for i := range terms {
		slug := m.entry(i).Slug()
		m.slugs, m.at[slug] = append(m.slugs, slug), i
	}
	return m
}

// entry is the i-th term. Those after the initial ones have other words.
func (m *many) entry(i int) lingible.Entry {
	e := m.initial[i%len(m.initial)]
	round := i / len(m.initial)
	if round == 0 {
		return e
	}
	e.Term, e.Variants = fmt.Sprintf("%s x%d", e.Term, round), slices.Clone(e.Variants)
	for i := range e.Variants {
		e.Variants[i] += fmt.Sprintf(" x%d", round)
	}
	if e.Plain != nil {
		e.Plain = &lingible.Plain{Text: fmt.Sprintf("%s y%d", e.Plain.Text, round), PartOfSpeech: e.Plain.PartOfSpeech}
	}
	return e
}

const benchPage = 250

func (m *many) Query(_ context.Context, in *awsdynamodb.QueryInput,
	_ ...func(*awsdynamodb.Options)) (*awsdynamodb.QueryOutput, error) {
	var source string
	for _, value := range in.ExpressionAttributeValues {
		source = value.(*types.AttributeValueMemberS).Value
	}
	out := &awsdynamodb.QueryOutput{}
	if source != lingible.SourceInitial {
		return out, nil
	}
	from := 0
	if last, ok := in.ExclusiveStartKey["PK"].(*types.AttributeValueMemberS); ok {
		from = m.at[last.Value[len("TERM#"):]] + 1
	}
	for i := from; i < min(from+benchPage, m.terms); i++ {
		out.Items = append(out.Items, dynamo.Item{"PK": &types.AttributeValueMemberS{Value: "TERM#" + m.slugs[i]},
			"SK": &types.AttributeValueMemberS{Value: "METADATA#lexicon"}})
	}
	if from+benchPage < m.terms {
		out.LastEvaluatedKey = out.Items[len(out.Items)-1]
	}
	return out, nil
}

func (m *many) BatchGetItem(_ context.Context, in *awsdynamodb.BatchGetItemInput,
	_ ...func(*awsdynamodb.Options)) (*awsdynamodb.BatchGetItemOutput, error) {
	out := &awsdynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{}}
	for table, asked := range in.RequestItems {
		for _, key := range asked.Keys {
			item, err := attributevalue.MarshalMap(m.entry(m.at[key["PK"].(*types.AttributeValueMemberS).Value[5:]]))
			if err != nil {
				return nil, err
			}
			item["PK"], item["SK"] = key["PK"], key["SK"]
			out.Responses[table] = append(out.Responses[table], item)
		}
	}
	return out, nil
}

func (m *many) GetItem(context.Context, *awsdynamodb.GetItemInput,
	...func(*awsdynamodb.Options)) (*awsdynamodb.GetItemOutput, error) {
	return &awsdynamodb.GetItemOutput{Item: m.export}, nil
}

func (m *many) UpdateItem(_ context.Context, in *awsdynamodb.UpdateItemInput,
	_ ...func(*awsdynamodb.Options)) (*awsdynamodb.UpdateItemOutput, error) {
	m.export = dynamo.Item{"digest": &types.AttributeValueMemberS{Value: "some"}}
	return &awsdynamodb.UpdateItemOutput{}, nil
}

// folder is a bucket in a folder.
type folder string

func (f folder) Put(_ context.Context, key string, body io.ReadSeeker) error {
	file, err := os.Create(filepath.Join(string(f), filepath.Base(key)))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(file, body)
	return err
}

func (f folder) Open(_ context.Context, key string) (body io.ReadCloser, found bool, err error) {
	file, err := os.Open(filepath.Join(string(f), filepath.Base(key)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	return file, err == nil, err
}

// highest samples a metric of the runtime until it is stopped, and returns the highest value in MB.
func highest(value func() uint64) (stop func() float64) {
	done, ended := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		for {
			most = max(most, value())
			select {
			case <-done:
				ended <- most
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() float64 {
		close(done)
		return float64(<-ended) / 1e6
	}
}

func metric(name string) uint64 {
	samples := []metrics.Sample{{Name: name}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}

// BenchmarkExport prints what an export of all terms, and one of one changed term, hold in memory: live, which is what
// it needs, and held, with the garbage collector as the function has it with 256 MB.
func BenchmarkExport(b *testing.B) {
	for _, terms := range []int{3_155, 27_000} {
		m := newMany(b, terms)
		exporter := &service.Exporter{DB: dynamotest.Through(b, m, lingible.Platform().Database), Index: language.Write}
		bucket := folder(b.TempDir())
		exporter.Put, exporter.Open = bucket.Put, bucket.Open
		for _, export := range []struct {
			name    string
			changed []string
		}{{"All", nil}, {"One", m.slugs[:1]}} {
			b.Run(fmt.Sprintf("%s/%d", export.name, terms), func(b *testing.B) {
				for b.Loop() {
					for _, as := range []struct {
						name       string
						percent    int
						limit      int64
						isMeasured func() uint64
					}{
						{"live-MB", 25, 1 << 40, func() uint64 { return metric("/gc/heap/live:bytes") }},
						{"held-MB", 400, 224 << 20, func() uint64 {
							return metric("/memory/classes/total:bytes") - metric("/memory/classes/heap/released:bytes")
						}},
					} {
						percent, limit := debug.SetGCPercent(as.percent), debug.SetMemoryLimit(as.limit)
						debug.FreeOSMemory()
						before := float64(as.isMeasured()) / 1e6
						stop := highest(as.isMeasured)
						got, err := exporter.Export(b.Context(), export.changed)
						b.ReportMetric(stop(), as.name)
						b.ReportMetric(before, "before-"+as.name)
						debug.SetGCPercent(percent)
						debug.SetMemoryLimit(limit)
						if got != terms || err != nil {
							b.Fatalf("got %d terms, %v", got, err)
						}
					}
				}
			})
		}
	}
}
