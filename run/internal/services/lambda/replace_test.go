package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// version is a definition of fn whose environment says which it is.
func version(t testing.TB, n int, environment ...string) lambda.Function {
	t.Helper()
	f := defined(t, lambda.Function{Environment: map[string]string{"VERSION": fmt.Sprint(n)}})
	for i := 0; i+1 < len(environment); i += 2 {
		f.Environment[environment[i]] = environment[i+1]
	}
	return f
}

func versionOf(t testing.TB, s *lambda.Service) string {
	t.Helper()
	var environment []string
	must.OK(t, json.Unmarshal(invoke(t, s, `{"env":true}`).Payload, &environment))
	for _, variable := range environment {
		if value, ok := strings.CutPrefix(variable, "VERSION="); ok {
			return value
		}
	}
	return ""
}

// noneRetired waits until the instances of former code have ended.
func noneRetired(t *testing.T, s *lambda.Service) {
	t.Helper()
	wait.Until(t, "no instance is retired", func() (any, bool) {
		instances := s.Functions()[0].Instances
		return instances, !slices.ContainsFunc(instances, func(i lambda.Instance) bool { return i.Retired })
	})
}

func TestReplace(t *testing.T) {
	t.Parallel()
	t.Run("InFlightFinishes", func(t *testing.T) {
		t.Parallel()
		s := newService(t, lambda.Options{}, version(t, 1))
		var working sync.WaitGroup
		for range 3 {
			working.Go(func() {
				if got := invoke(t, s, `{"sleepMS":1500,"echo":"old"}`); string(got.Payload) != `"old"` {
					t.Errorf("got %+v", got)
				}
			})
		}
		waitBusy(t, s, 3)
		must.OK(t, s.Replace(t.Context(), version(t, 2)))
		if got := versionOf(t, s); got != "2" {
			t.Errorf("after Replace version %s answers", got)
		}
		working.Wait()
		noneRetired(t, s)
		if got := s.Functions()[0]; got.Deaths != 0 || got.Errors != 0 || got.Invocations != 4 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("QueuedGoToTheNew", func(t *testing.T) {
		t.Parallel()
		s := newService(t, lambda.Options{MaxInstances: 1}, version(t, 1))
		var working sync.WaitGroup
		working.Go(func() { invoke(t, s, `{"sleepMS":1500}`) })
		waitBusy(t, s, 1)
		var got string
		working.Go(func() { got = versionOf(t, s) })
		wait.For(t, "the events that wait", 1, func() int { return s.Functions()[0].Queued })
		must.OK(t, s.Replace(t.Context(), version(t, 2)))
		working.Wait()
		if got != "2" {
			t.Errorf("version %s answered what waited", got)
		}
	})
	t.Run("ErrStart", func(t *testing.T) {
		t.Parallel()
		s := newService(t, lambda.Options{}, version(t, 1))
		for _, init := range []string{"exit", "panic"} {
			err := s.Replace(t.Context(), version(t, 2, "INIT", init))
			var failure *lambda.StartError
			if !errors.As(err, &failure) || failure.Function != "fn" ||
				init == "panic" && !strings.Contains(err.Error(), "panic: cannot initialise") {
				t.Fatalf("%s: got %v", init, err)
			}
			if got := versionOf(t, s); got != "1" {
				t.Errorf("%s: version %s answers", init, got)
			}
		}
		must.OK(t, s.Replace(t.Context(), version(t, 3)))
		if got := versionOf(t, s); got != "3" {
			t.Errorf("version %s answers", got)
		}
		noneRetired(t, s)
	})
	t.Run("Overtaken", func(t *testing.T) {
		t.Parallel()
		s := newService(t, lambda.Options{}, version(t, 1))
		overtaken := make(chan error, 1)
		go func() { overtaken <- s.Replace(t.Context(), version(t, 2, "INIT", "slow")) }()
		wait.For(t, "the cold starts", int64(1), func() int64 { return s.Functions()[0].ColdStarts })
		must.OK(t, s.Replace(t.Context(), version(t, 3)))
		if err := <-overtaken; !errors.Is(err, lambda.ErrOvertaken) {
			t.Errorf("got %v", err)
		}
		if got := versionOf(t, s); got != "3" {
			t.Errorf("version %s answers", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Replace(ctx, version(t, 4, "INIT", "slow")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if got := versionOf(t, s); got != "3" {
			t.Errorf("version %s answers", got)
		}
		noneRetired(t, s)
	})
	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		s := newService(t, lambda.Options{}, version(t, 1))
		unknown, reserved := version(t, 2), version(t, 2, "AWS_REGION", "x")
		unknown.Name = "other"
		if err := s.Replace(t.Context(), unknown); !errors.Is(err, lambda.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		if err := s.Replace(t.Context(), reserved); err == nil || !strings.Contains(err.Error(), "reserved by Lambda") {
			t.Errorf("got %v", err)
		}
		s.Close()
		if err := s.Replace(t.Context(), version(t, 3)); !errors.Is(err, lambda.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("UnderLoad", func(t *testing.T) {
		t.Parallel()
		s := newService(t, lambda.Options{}, version(t, 0))
		var working sync.WaitGroup
		var ended atomic.Bool
		for range 4 {
			working.Go(func() {
				for !ended.Load() {
					if got := invoke(t, s, `{"echo":1,"sleepMS":2}`); got.FunctionError != "" {
						t.Errorf("got %s", got.Payload)
						return
					}
				}
			})
		}
		for n := 1; n <= 10; n++ {
			must.OK(t, s.Replace(t.Context(), version(t, n)))
		}
		ended.Store(true)
		working.Wait()
		if got := versionOf(t, s); got != "10" {
			t.Errorf("version %s answers", got)
		}
		if got := s.Functions()[0]; got.Deaths != 0 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("Reserved", func(t *testing.T) {
		t.Parallel()
		s := newService(t, lambda.Options{}, version(t, 1))
		none := 0
		closed := version(t, 2)
		closed.ReservedConcurrency = &none
		must.OK(t, s.Replace(t.Context(), closed))
		if _, err := s.Invoke(t.Context(), "fn", nil); !errors.Is(err, lambda.ErrThrottled) {
			t.Errorf("got %v", err)
		}
		must.OK(t, s.Replace(t.Context(), version(t, 3)))
		if got := versionOf(t, s); got != "3" {
			t.Errorf("version %s answers", got)
		}
	})
}

func TestRemove(t *testing.T) {
	t.Parallel()
	s := newService(t, lambda.Options{}, version(t, 1))
	done := make(chan lambda.Result, 1)
	go func() {
		result, err := s.Invoke(t.Context(), "fn", []byte(`{"sleepMS":1000,"echo":"last"}`))
		if err != nil {
			t.Error(err)
		}
		done <- result
	}()
	waitBusy(t, s, 1)
	must.OK(t, s.Remove("fn"))
	if _, err := s.Invoke(t.Context(), "fn", nil); !errors.Is(err, lambda.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if got := <-done; string(got.Payload) != `"last"` {
		t.Errorf("got %+v", got)
	}
	if err := s.Remove("fn"); !errors.Is(err, lambda.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	s := newService(t, lambda.Options{}, lambda.Function{Name: "a"}, lambda.Function{Name: "b"},
		lambda.Function{Name: "fn"})
	invoke(t, s, `{"echo":1}`)
	if got := fmt.Sprint(s.Recent()); got != "[fn a b]" {
		t.Errorf("got %s", got)
	}
}

// waitBusy waits until so many instances are busy.
func waitBusy(t *testing.T, s *lambda.Service, instances int) {
	t.Helper()
	wait.For(t, "the busy instances", instances, func() (busy int) {
		for _, instance := range s.Functions()[0].Instances {
			if instance.Busy {
				busy++
			}
		}
		return busy
	})
}
