package lakequery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

// Ask opens a lake of the run with that console, answers one question within the bounds of [catalog.Answer], and closes
// it. Errors as of [Open] and [Lake.Query].
func Ask(ctx context.Context, console string, question catalog.Question) (answer catalog.Answer, err error) {
	lake, err := Open(ctx, console, Options{Database: question.Database, Stack: question.Stack})
	if err != nil {
		return catalog.Answer{}, err
	}
	defer func() { err = errors.Join(err, lake.Close()) }()
	began := time.Now()
	rows, err := lake.Query(ctx, question.SQL)
	if err != nil {
		return catalog.Answer{}, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return catalog.Answer{}, fmt.Errorf("columns: %w", err)
	}
	columns := make([]column, len(types))
	values, pointers := make([]any, len(types)), make([]any, len(types))
	answer = catalog.Answer{Columns: []catalog.Column{}, Rows: [][]*string{}}
	for i, t := range types {
		columns[i] = column{t.Name(), t.DatabaseTypeName()}
		pointers[i] = &values[i]
		answer.Columns = append(answer.Columns, catalog.Column{Name: t.Name(), Type: t.DatabaseTypeName()})
	}
	size := 0
	for rows.Next() {
		if question.Most > 0 && len(answer.Rows) == question.Most || size > catalog.LargestAnswer {
			answer.More = true
			break
		}
		if err := rows.Scan(pointers...); err != nil {
			return catalog.Answer{}, fmt.Errorf("row: %w", err)
		}
		row := make([]*string, len(values))
		for i, v := range values {
			if v == nil {
				continue
			}
			value := text(columns[i], v)
			if len(value) > catalog.LongestValue {
				// A copy, so that the long text need not stay.
				value = strings.Clone(strings.ToValidUTF8(value[:catalog.LongestValue], ""))
				answer.Cut++
			}
			row[i] = &value
			size += len(value)
		}
		answer.Rows = append(answer.Rows, row)
	}
	answer.Milliseconds = float64(time.Since(began).Microseconds()) / 1000
	return answer, rows.Err()
}
