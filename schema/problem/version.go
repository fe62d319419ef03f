package problem

import "fmt"

// VersionError says that an item has another version than the caller expected.
type VersionError struct {
	// What names the item, such as "the task".
	What string
	// Current is its version.
	Current int
}

// Error names the item's current version.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d: read it again, and make the change to what it is now", e.What, e.Current)
}

// Problem implements [Problem].
func (e *VersionError) Problem() *Error {
	return &Error{Status: 412, Message: e.Error()}
}
