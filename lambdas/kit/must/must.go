// Package must ends tests that cannot go on.
package must

import "sync"

// test is what a test needs to end: a testing.TB, or one of package rapid.
type test interface {
	Helper()
	Fatal(arguments ...any)
}

// OK ends the test at the caller's line if there is an error.
func OK(t test, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns the value of a call, such as must.Get(os.ReadFile(path))(t). An error of the call ends the test.
func Get[T any](value T, err error) func(t test) T {
	return func(t test) T {
		t.Helper()
		OK(t, err)
		return value
	}
}

// Once is Get for a value that tests share: the first of them makes the call.
func Once[T any](call func() (T, error)) func(t test) T {
	value := sync.OnceValues(call)
	return func(t test) T {
		t.Helper()
		return Get(value())(t)
	}
}
