package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/internal/engine"
)

const (
	// idleFor is how long a run is left alone before and while it is measured.
	idleFor = time.Minute
	// idleWriters is how many clients make the changes.
	idleWriters = 16
)

// idle measures what the run of all stacks takes of a processor while nobody asks, before and after many changes of one
// table, and how long a write to each other table with a stream takes then, in that run and in the next one with its
// data.
func (b *bench) idle(ctx context.Context) error {
	data := []string{"--data", b.path("idle-data")}
	l, err := b.runLocal(ctx, data...)
	if err != nil {
		return err
	}
	stop := l.stop
	defer func() { _ = stop() }()
	b.title("A run of all stacks while nobody asks, and %d changes of one table", b.changes)
	if err := b.idleRow("percent of a core: DynamoDB Local, onesynth", l, 0.05); err != nil {
		return err
	}
	client := l.client()
	tables, err := streamed(ctx, client)
	if err != nil {
		return err
	}
	if err := b.writeRows(ctx, client, "before the changes", tables); err != nil {
		return err
	}
	changed := tables[0]
	var writing errgroup.Group
	for writer := range idleWriters {
		writing.Go(func() error {
			for i := writer; i < b.changes; i += idleWriters {
				if err := changed.put(ctx, client, strconv.Itoa(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := writing.Wait(); err != nil {
		return err
	}
	if err := b.writeRows(ctx, client, "after changes of "+changed.name, tables); err != nil {
		return err
	}
	if err := b.idleRow("percent of a core: DynamoDB Local, onesynth", l, 0.08); err != nil {
		return err
	}
	if err := stop(); err != nil {
		return err
	}
	if l, err = b.runLocal(ctx, data...); err != nil {
		return err
	}
	stop = l.stop
	time.Sleep(idleFor) // every first write to a JVM that has just begun is slow
	return b.writeRows(ctx, l.client(), "in the next run with its data", tables)
}

// client is a client of the run's DynamoDB Local.
func (l *local) client() *dynamodb.Client {
	return dynamodb.NewFromConfig(aws.Config{Region: engine.Region, BaseEndpoint: &l.dynamodb,
		HTTPClient: http.DefaultClient, Credentials: credentials.NewStaticCredentialsProvider("onesynth", "local", "")})
}

// streamedTable is a table with a stream.
type streamedTable struct {
	name string
	key  []types.AttributeDefinition
}

// streamed returns the tables with streams, by name.
func streamed(ctx context.Context, client *dynamodb.Client) (found []streamedTable, err error) {
	pages := dynamodb.NewListTablesPaginator(client, &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, name := range page.TableNames {
			described, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
			if err != nil {
				return nil, err
			}
			table := streamedTable{name: name}
			for _, part := range described.Table.KeySchema {
				at := slices.IndexFunc(described.Table.AttributeDefinitions, func(a types.AttributeDefinition) bool {
					return aws.ToString(a.AttributeName) == aws.ToString(part.AttributeName)
				})
				table.key = append(table.key, described.Table.AttributeDefinitions[at])
			}
			if described.Table.LatestStreamArn != nil {
				found = append(found, table)
			}
		}
	}
	return found, nil
}

// put writes an item whose key is like none of a platform's.
func (t streamedTable) put(ctx context.Context, client *dynamodb.Client, id string) error {
	item := map[string]types.AttributeValue{}
	for _, part := range t.key {
		switch part.AttributeType {
		case types.ScalarAttributeTypeN:
			item[aws.ToString(part.AttributeName)] = &types.AttributeValueMemberN{Value: "0"}
		case types.ScalarAttributeTypeB:
			item[aws.ToString(part.AttributeName)] = &types.AttributeValueMemberB{Value: []byte(id)}
		default:
			item[aws.ToString(part.AttributeName)] = &types.AttributeValueMemberS{Value: "bench " + id}
		}
	}
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &t.name, Item: item})
	return err
}

// writeRows prints how long a write to a table with a stream takes: of all, and of the slowest table.
func (b *bench) writeRows(ctx context.Context, client *dynamodb.Client, when string, tables []streamedTable) error {
	var all []time.Duration
	slowest, of := 0.0, ""
	for _, table := range tables {
		times, err := inTurn(b.runs, timing(func() error { return table.put(ctx, client, "again") }))
		if err != nil {
			return err
		}
		all = append(all, times[0]...)
		if median := sampleOf(times[0]).median(); median > slowest {
			slowest, of = median, table.name
		}
	}
	b.row("write to a table with a stream, "+when, sampleOf(all).spread(), "", true)
	b.row("  of the slowest table, "+of, seconds(slowest), "at most 10 ms", slowest <= 0.01)
	return b.out.Flush()
}

// idleRow waits until a run is idle, and prints how much of a processor it takes then.
func (b *bench) idleRow(what string, l *local, most float64) error {
	time.Sleep(idleFor)
	before, err := shareOf(l.pid)
	if err != nil {
		return err
	}
	time.Sleep(idleFor)
	after, err := shareOf(l.pid)
	if err != nil {
		return err
	}
	share := func(of time.Duration) float64 { return float64(of) / float64(idleFor) }
	database, own := share(after.database-before.database), share(after.own-before.own)
	b.row(what, fmt.Sprintf("%.1f %%, %.1f %%", 100*database, 100*own), fmt.Sprintf("at most %.0f %%", 100*most),
		database+own <= most)
	return b.out.Flush()
}

// used is the processor time of a run's parts.
type used struct{ database, own, functions time.Duration }

func (u used) sum() time.Duration { return u.database + u.own + u.functions }

// shareOf returns the processor time that a run, and the processes that it started, have taken.
func shareOf(pid int) (u used, err error) {
	if u.own, err = processorTime(pid); err != nil {
		return u, err
	}
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return u, err
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			return u, err
		}
		for _, child := range strings.Fields(string(text)) {
			name, err := os.ReadFile("/proc/" + child + "/comm")
			if err != nil {
				return u, err
			}
			number, err := strconv.Atoi(child)
			if err != nil {
				return u, err
			}
			time, err := processorTime(number)
			if err != nil {
				return u, err
			}
			if strings.TrimSpace(string(name)) == "java" {
				u.database += time
			} else {
				u.functions += time
			}
		}
	}
	return u, nil
}
