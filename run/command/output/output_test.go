package output_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run/command/output"
)

type row struct {
	Name    string          `json:"name"`
	Steps   []string        `json:"steps"`
	LastRun *time.Time      `json:"last_run"`
	Message json.RawMessage `json:"message"`
	hidden  int
}

func TestRows(t *testing.T) {
	t.Parallel()
	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	rows := []row{{Name: "a", hidden: 1, Message: json.RawMessage(`{"x":1}`)},
		{Name: "b, \"c\"\nd", Steps: []string{"<1>", "2"}, LastRun: &last, Message: json.RawMessage(`null`)}}
	for format, want := range map[string]string{
		"text": "NAME      STEPS        LAST RUN              MESSAGE\na         -            -                 " +
			"    {\"x\":1}\nb, \"c\" d  [\"<1>\",\"2\"]  2026-01-02T02:04:05Z  null\n",
		"csv": "name,steps,last_run,message\na,,,\"{\"\"x\"\":1}\"\n\"b, " +
			"\"\"c\"\"\nd\",\"[\"\"<1>\"\",\"\"2\"\"]\",2026-01-02T02:04:05Z,null\n",
		"jsonlines": `{"name":"a","steps":null,"last_run":null,"message":{"x":1}}` + "\n" +
			`{"name":"b, \"c\"\nd","steps":["<1>","2"],"last_run":"2026-01-02T03:04:05+01:00","message":null}` + "\n",
	} {
		var got strings.Builder
		if err := output.Rows(&got, output.Format{Format: format}, rows); err != nil || got.String() != want {
			t.Errorf("%s: got %v\n%s\nwant\n%s", format, err, &got, want)
		}
	}
	var got strings.Builder
	if err := output.Rows[row](&got, output.Format{Format: "json"}, nil); err != nil || got.String() != "[]\n" {
		t.Errorf("no rows: got %v %s", err, &got)
	}
	if err := output.Rows(failing{}, output.Format{Format: "csv"}, rows); !errors.Is(err, errFull) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }
