package todo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// seedTasks stores tasks directly in the table, in the platform's form, where creating them would
// take long. Their titles are their numbers. It returns their ids.
func (p *target) seedTasks(t testing.TB, owner string, n int) []string {
	t.Helper()
	statuses, priorities := []string{"pending", "in_progress", "completed", "cancelled"},
		[]string{"low", "medium", "high", "urgent", ""}
	counts := map[string]any{"PK": "COUNTS#" + owner, "SK": "METADATA"}
	for _, name := range []string{"pending", "in_progress", "completed", "cancelled", "low", "medium", "high", "urgent",
		"no_priority"} {
		counts[name] = 0
	}
	began := time.Now().Add(-time.Duration(n) * time.Second)
	ids := make([]string, n)
	var writes []types.WriteRequest
	for i := range n {
		made := began.Add(time.Duration(i) * time.Second)
		id := fmt.Sprintf("%08x-%04x-7000-8000-%012x", made.UnixMilli()>>16, made.UnixMilli()&0xffff, i)
		ids[i] = id
		status, priority := statuses[i%4], priorities[i%5]
		item := map[string]any{
			"PK": "TASK#" + owner, "SK": "TASK#" + id, "GSI1PK": "OWNER#" + owner,
			"GSI1SK": "STATUS#" + status + "#" + id,
			"title":  fmt.Sprint(i), "description": strings.Repeat("What there is to do. ", 10), "status": status,
			"version":    1,
			"created_at": made.Unix(), "updated_at": made.Unix(),
		}
		counts[status] = counts[status].(int) + 1
		if status == "completed" {
			item["completed_at"] = made.Unix()
		}
		if priority != "" {
			item["priority"], item["GSI3PK"], item["GSI3SK"] = priority, "OWNER#"+owner, "PRIORITY#"+priority+"#"+id
			counts[priority] = counts[priority].(int) + 1
		} else {
			counts["no_priority"] = counts["no_priority"].(int) + 1
		}
		if i%3 == 0 {
			due := made.Format(time.DateOnly)
			item["due_date"], item["GSI2PK"], item["GSI2SK"] = due, "OWNER#"+owner, "DUEDATE#"+due+"#"+id
			item["category"], item["GSI4PK"], item["GSI4SK"] = "a#b", "OWNER#"+owner, "CATEGORY#a%23b#"+id
		}
		encoded, err := attributevalue.MarshalMap(item)
		if err != nil {
			t.Fatal(err)
		}
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: encoded}})
		if len(writes) == 25 || i == n-1 {
			for len(writes) > 0 {
				output, err := p.Database.BatchWriteItem(t.Context(),
					&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
						p.Tables["AppData"]: writes}})
				if err != nil {
					t.Fatal(err)
				}
				writes = output.UnprocessedItems[p.Tables["AppData"]]
			}
		}
	}
	p.Put(t, "AppData", counts)
	return ids
}
