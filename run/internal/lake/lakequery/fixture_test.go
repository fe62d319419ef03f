package lakequery_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakequery"
	"github.com/onesynth-cdk/onesynth/schema"
)

// run is a console with lakes and one bucket, named "bucket".
type run struct {
	mutex   sync.Mutex
	lakes   []catalog.Lake
	objects map[string][]byte
	// folder has the objects' files, if it is given, and served is how many contents the console was asked for.
	folder string
	served int
	// listed is called, with the mutex held, after each listing.
	listed func(prefix string)
}

func (r *run) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	key, isObject := strings.CutPrefix(request.URL.Path, "/buckets/bucket/objects/")
	switch {
	case request.Method != http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case request.URL.Path == "/lakes":
		json.NewEncoder(w).Encode(r.lakes)
	case isObject:
		content, ok := r.objects[key]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error": "no such object"}`)
			return
		}
		r.served++
		w.Write(content)
	case request.URL.Path == "/buckets/bucket":
		prefix := request.URL.Query().Get("prefix")
		list := []map[string]any{}
		for key, content := range r.objects {
			if strings.HasPrefix(key, prefix) {
				listed := map[string]any{"key": key, "size": len(content), "etag": fmt.Sprintf("%p", content)}
				if r.folder != "" {
					listed["file"] = filepath.Join(r.folder, url.PathEscape(key))
				}
				list = append(list, listed)
			}
		}
		json.NewEncoder(w).Encode(list)
		if r.listed != nil {
			r.listed(prefix)
		}
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error": "no %s here"}`, request.URL.Path)
	}
}

func (r *run) start(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return server.URL
}

func (r *run) open(t testing.TB) *lakequery.Lake {
	t.Helper()
	lake := must.Get(lakequery.Open(t.Context(), r.start(t), lakequery.Options{}))(t)
	t.Cleanup(func() {
		if err := lake.Close(); err != nil {
			t.Error(err)
		}
	})
	return lake
}

// answer is the query's as CSV, without the header.
func answer(t testing.TB, lake *lakequery.Lake, query string) string {
	t.Helper()
	rows, err := lake.Query(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var b strings.Builder
	if err := lakequery.Write(&b, lakequery.FormatCSV, rows); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	_, lines, _ := strings.Cut(b.String(), "\n")
	return lines
}

// glueTypes are the catalog's names of the column types ("Data types in Amazon Athena").
var glueTypes = map[schema.ColumnType]string{
	schema.ColumnText: "string", schema.ColumnInteger: "bigint", schema.ColumnDecimal: "double",
	schema.ColumnBoolean: "boolean",
	schema.ColumnDate:    "date", schema.ColumnTimestamp: "timestamp",
}

func glueColumns(columns []schema.Column) (glue []catalog.Column) {
	for _, c := range columns {
		glue = append(glue, catalog.Column{Name: c.Name, Type: glueTypes[c.Type]})
	}
	return glue
}

// described is the catalog's description of a lake of To-Do whose files are in the bucket.
func described(lake schema.Lake) catalog.Lake {
	c := catalog.Lake{Database: lake.Name}
	table, _ := todo.Platform().Database.Table(lake.Table)
	for _, e := range lake.Entities {
		c.Tables = append(c.Tables, catalog.Table{
			Name: e.ChangeTable(), Columns: glueColumns(slices.Concat(schema.ChangeColumns(), e.ColumnsOf(table))),
			PartitionKeys: []catalog.Column{{Name: schema.EventDate, Type: "date"}},
			Location:      "s3://bucket/events/entity=" + e.Name + "/",
		})
	}
	for _, v := range lake.Views {
		c.Views = append(c.Views, catalog.View{Name: v.Name, SQL: v.SQL, Columns: glueColumns(v.Columns)})
	}
	for _, q := range lake.Queries {
		c.Queries = append(c.Queries, catalog.Query{Name: q.Name, Description: q.Description, SQL: q.SQL})
	}
	return c
}

// changed is a run whose lake of To-Do has these objects.
func changed(objects map[string][]byte) *run {
	return &run{lakes: []catalog.Lake{described(todo.Platform().Lakes[0])}, objects: objects}
}

type change struct {
	EventID        string    `parquet:"event_id,optional"`
	EventName      string    `parquet:"event_name,optional,dict"`
	EventTime      time.Time `parquet:"event_time,optional,timestamp(millisecond)"`
	SequenceNumber string    `parquet:"sequence_number,optional"`
}

type userChange struct {
	change
	UserID    string    `parquet:"user_id,optional"`
	CreatedAt time.Time `parquet:"created_at,optional,timestamp(millisecond)"`
	UpdatedAt time.Time `parquet:"updated_at,optional,timestamp(millisecond)"`
}

type taskChange struct {
	change
	UserID      string     `parquet:"user_id,optional,dict"`
	TaskID      string     `parquet:"task_id,optional"`
	Title       string     `parquet:"title,optional"`
	Description *string    `parquet:"description,optional"`
	Status      string     `parquet:"status,optional,dict"`
	Priority    *string    `parquet:"priority,optional,dict"`
	Category    *string    `parquet:"category,optional,dict"`
	DueDate     *int32     `parquet:"due_date,optional,date"`
	CreatedAt   time.Time  `parquet:"created_at,optional,timestamp(millisecond)"`
	UpdatedAt   time.Time  `parquet:"updated_at,optional,timestamp(millisecond)"`
	CompletedAt *time.Time `parquet:"completed_at,optional,timestamp(millisecond)"`
	Version     int64      `parquet:"version,optional"`

	StatusBefore *string `parquet:"status_before,optional,dict"`
}

func write[Row any](t testing.TB, rows ...Row) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[Row](&b, parquet.Compression(&zstd.Codec{}))
	must.Get(w.Write(rows))(t)
	must.OK(t, w.Close())
	return b.Bytes()
}

func number(n int) string { return fmt.Sprintf("%040d", n) }

func day(t testing.TB, date string) *int32 {
	t.Helper()
	parsed := must.Get(time.Parse(time.DateOnly, date))(t)
	days := int32(parsed.Unix() / (24 * 60 * 60))
	return &days
}
