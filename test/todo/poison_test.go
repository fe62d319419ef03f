package todo

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// poisoner writes items directly into the table; some cannot be rows.
type poisoner struct {
	l    *lake
	user string
	// refused are the events that must be in the failure queue: task and event, and what
	// the cause says.
	refused map[string]string
}

func newPoisoner(l *lake) *poisoner {
	return &poisoner{l: l, user: onesynthtest.Unique("poisoner"), refused: map[string]string{
		"repaired INSERT": "due_date", "removed INSERT": "title", "spoilt MODIFY": "created_at",
		"turned MODIFY": "version", "kept INSERT": "completed_at",
	}}
}

func (p *poisoner) put(ctx context.Context, id string, attributes map[string]any) error {
	item := map[string]any{
		"PK": "TASK#" + p.user, "SK": "TASK#" + id, "title": "by hand", "status": "pending",
		"created_at": 1767225600, "updated_at": 1767225600, "version": 1,
	}
	maps.Copy(item, attributes)
	encoded, err := attributevalue.MarshalMap(item)
	if err != nil {
		return err
	}
	_, err = p.l.Database.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(p.l.Tables["AppData"]),
		Item: encoded})
	return err
}

func (p *poisoner) remove(ctx context.Context, id string) error {
	key, err := attributevalue.MarshalMap(map[string]string{"PK": "TASK#" + p.user, "SK": "TASK#" + id})
	if err != nil {
		return err
	}
	_, err = p.l.Database.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(p.l.Tables["AppData"]),
		Key: key})
	return err
}

func (p *poisoner) work(ctx context.Context) error {
	for _, write := range []func() error{
		func() error { return p.put(ctx, "repaired", map[string]any{"due_date": "soon"}) },
		func() error { return p.put(ctx, "removed", map[string]any{"title": 5}) },
		func() error { return p.put(ctx, "turned", nil) },
		func() error { return p.put(ctx, "kept", map[string]any{"completed_at": "yesterday"}) },
		func() error { return p.put(ctx, "turned", map[string]any{"version": 1.5}) },
		func() error { return p.put(ctx, "repaired", map[string]any{"due_date": "2026-01-02", "version": 2}) },
		func() error { return p.remove(ctx, "removed") },
		func() error { return p.put(ctx, "spoilt", nil) },
		func() error { return p.put(ctx, "spoilt", map[string]any{"created_at": "yesterday"}) },
		func() error { return p.remove(ctx, "spoilt") },
		func() error { return p.put(ctx, "turned", map[string]any{"version": 3}) },
	} {
		if err := write(); err != nil {
			return fmt.Errorf("write past the platform: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}
