package askahuman

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/aws"
	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// Through failures of DynamoDB, asks that are repeated until they are answered are
// one question for each key, with one answer.
func TestRepeatsUnderFaults(t *testing.T) {
	t.Parallel()
	target := ownRun(t, local.Options{})
	c := newClient(t, target)
	if err := rooms.Of(target.Run).AWS.SetFaults(
		aws.Faults{Throttle: 0.1, TransactionConflict: 0.1, DropResponse: 0.1, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	const keys, repeats = 10, 4
	asker := c.newAgent()
	questions := make([]ask, keys)
	for i := range questions {
		questions[i] = textQuestion(2)
		questions[i].IdempotencyKey = onesynthtest.Unique("key")
	}
	var mutex sync.Mutex
	bodies := map[string]bool{}
	if err := onesynthtest.Together(keys*repeats, func(i int) error {
		for range 20 {
			r, err := asker.Send(t.Context(), http.MethodPost, "/agent/questions", asker.header(), questions[i%keys])
			if err != nil {
				return err
			}
			switch {
			case r.Status == http.StatusCreated:
				mutex.Lock()
				bodies[fmt.Sprint(i%keys, string(r.Body))] = true
				mutex.Unlock()
				return nil
			case r.Status != http.StatusConflict && r.Status < http.StatusInternalServerError:
				return fmt.Errorf("got %v; want 201, or to be told to come again", r)
			}
			target.forgetAsks(t, asker.id)
			time.Sleep(time.Second)
		}
		return errors.New("got no answer in 20 attempts")
	}); err != nil {
		t.Fatal(err)
	}
	if err := rooms.Of(target.Run).AWS.SetFaults(aws.Faults{}); err != nil {
		t.Fatal(err)
	}
	if len(bodies) != keys {
		t.Errorf("got %d different answers to %d requests", len(bodies), keys)
	}
	if stored := target.Items(t, "Questions"); len(stored) != keys {
		t.Errorf("got %d questions stored; want %d", len(stored), keys)
	}
	if open := target.openQuestions(t); open != keys {
		t.Errorf("got %d places taken; want %d", open, keys)
	}
}
