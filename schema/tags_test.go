package schema_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema"
)

type place struct {
	Country string `dynamodbav:"country" attribute:"ISO 3166" column:""`
}

type visit struct {
	place
	ID       string    `dynamodbav:"id" attribute:"UUID" column:"Its id"`
	At       time.Time `dynamodbav:"at,unixtime" attribute:"Unix seconds" column:"When" columntype:"timestamp"`
	Day      *string   `dynamodbav:"day,omitempty" attribute:"YYYY-MM-DD" columntype:"date" column:"Day"`
	Weight   float64   `dynamodbav:"weight" attribute:"kg"`
	Digest   []byte    `dynamodbav:"digest" attribute:"SHA-256"`
	Stops    []place   `dynamodbav:"stops" attribute:"In their order"`
	Tags     []string  `dynamodbav:"tags,stringset" attribute:"Any"`
	Own      place     `dynamodbav:"own" attributetype:"String" attribute:"Marshals itself"`
	Again    string    `dynamodbav:"country" attribute:"Another one"`
	Internal string    `dynamodbav:"internal" attribute:"-"`
	Shown    string    `dynamodbav:"-"`
}

func TestTags(t *testing.T) {
	t.Parallel()
	want := []schema.Attribute{
		{"country", schema.String, "ISO 3166"}, {"id", schema.String, "UUID"}, {"at", schema.Number, "Unix seconds"},
		{"day", schema.String, "YYYY-MM-DD"}, {"weight", schema.Number, "kg"}, {"digest", schema.Binary, "SHA-256"},
		{"stops", schema.List, "In their order"}, {"tags", schema.StringSet, "Any"},
		{"own", schema.String, "Marshals itself"},
	}
	if diff := cmp.Diff(want, schema.AttributesOf(visit{}, place{})); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	second := schema.Attribute{Name: "second", Type: schema.Number}
	if got := schema.After(schema.AttributesOf(place{}), "country", second); got[0].Name != "country" ||
		got[1] != second {
		t.Errorf("got %v", got)
	}
	columns := []schema.Column{
		{Name: "country"}, {Name: "id", Description: "Its id"},
		{Name: "at", Type: schema.ColumnTimestamp, Description: "When"},
		{Name: "day", Type: schema.ColumnDate, Description: "Day"},
	}
	if diff := cmp.Diff(columns, schema.ColumnsOf(visit{})); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}
