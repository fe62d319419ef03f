package routes

import (
	"context"
	"time"
)

// Cost is what requests cost of DynamoDB: calls, the time in which it was busy, and units of capacity as DynamoDB Local
// counts them. What transactions wrote to tables and to indexes is also in Write.
type Cost struct {
	Calls                                       float64
	Busy                                        time.Duration
	Read, Write, TransactTable, TransactIndexes float64
}

// Plus returns the sum of two costs.
func (c Cost) Plus(d Cost) Cost {
	return Cost{
		c.Calls + d.Calls, c.Busy + d.Busy, c.Read + d.Read, c.Write + d.Write,
		c.TransactTable + d.TransactTable, c.TransactIndexes + d.TransactIndexes,
	}
}

// Minus returns the difference of two costs.
func (c Cost) Minus(d Cost) Cost { return c.Plus(d.Times(-1)) }

// Times returns a multiple of the costs.
func (c Cost) Times(f float64) Cost {
	return Cost{
		c.Calls * f, time.Duration(float64(c.Busy) * f), c.Read * f, c.Write * f,
		c.TransactTable * f, c.TransactIndexes * f,
	}
}

// Cost returns what the run's requests cost since its start.
func (r *Run) Cost(ctx context.Context) (c Cost, err error) {
	var engine struct {
		Requests float64       `json:"requests"`
		Busy     time.Duration `json:"busy_ns"`
	}
	if err := r.Get(ctx, "/engine", &engine); err != nil {
		return c, err
	}
	c.Calls, c.Busy = engine.Requests, engine.Busy
	var rows []struct {
		Index      string  `json:"index"`
		Operation  string  `json:"operation"`
		ReadUnits  float64 `json:"read_units"`
		WriteUnits float64 `json:"write_units"`
	}
	if err := r.Get(ctx, "/capacity", &rows); err != nil {
		return c, err
	}
	for _, row := range rows {
		c.Read += row.ReadUnits
		c.Write += row.WriteUnits
		switch {
		case row.Operation != "TransactWriteItems":
		case row.Index == "":
			c.TransactTable += row.WriteUnits
		default:
			c.TransactIndexes += row.WriteUnits
		}
	}
	return c, nil
}
