package historytest_test

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/historytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// register is a number that calls add to. They return the sum.
func register() historytest.Model[int, int] {
	return historytest.Model[int, int]{Step: historytest.Returns(func(sum, n int) (int, string) {
		return sum + n, fmt.Sprint(sum + n)
	})}
}

// failures is a test that takes what fails.
type failures struct {
	testing.TB
	said []string
}

func (f *failures) Errorf(format string, arguments ...any) {
	f.said = append(f.said, fmt.Sprintf(format, arguments...))
}

func (*failures) Helper() {}

// A history with an order passes. A call with an unknown answer may come late, or never. Without an order, the failure
// shows the longest one, and a picture.
func TestJudge(t *testing.T) {
	t.Parallel()
	h := historytest.New(register())
	add := func(n int, sum string) { h.Call(0, n, func() string { return sum }) }
	lost := historytest.Error(fmt.Errorf("added: %w", io.EOF), io.EOF)
	add(1, "1")
	add(10, lost) // which comes before the last one
	add(1, "2")
	add(1, "13")
	add(1, "14")
	add(1, "15")
	add(100, historytest.Error(retry.ErrBusy)) // which nobody has seen
	h.Judge(t)

	add(1, historytest.Error(io.EOF)) // which is no number
	failed := failures{TB: t}
	if h.Judge(&failed); len(failed.said) != 1 {
		t.Fatalf("got the failures %q", failed.said)
	}
	found := regexp.MustCompile(`file://(\S+)`).FindStringSubmatch(failed.said[0])
	if found == nil || !strings.Contains(failed.said[0], "and then none of\n1 returns EOF") {
		t.Fatalf("got %s", failed.said[0])
	}
	picture, err := os.ReadFile(found[1])
	if err != nil || !strings.Contains(string(picture), "1 returns EOF") {
		t.Errorf("got the picture %.100q, %v", picture, err)
	}
	if err := os.Remove(found[1]); err != nil {
		t.Error(err)
	}

	h, failed.said = historytest.New(register()), nil
	add(1, lost)
	if h.Judge(&failed); len(failed.said) != 1 {
		t.Errorf("got the failures %q of a history that shows nothing", failed.said)
	}
}

// Calls of several clients at once are judged by what they are about.
func TestTogether(t *testing.T) {
	t.Parallel()
	model := register()
	model.Key = func(n int) string { return fmt.Sprint(n) }
	h := historytest.New(model)
	h.Together(2, 3, func(client, number int) (int, func() string) {
		return 1 + client, func() string { return fmt.Sprint((1 + client) * (1 + number)) }
	})
	h.Judge(t)
}
