// Package must ends tests that cannot go on.
package must

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
