package run

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// However many requests fail, the disk is looked at once a second, and a line comes when it is full anew.
func TestDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var full error
		var printed []string
		looks := 0
		d := disk{check: func(string) error { looks++; return full }, print: func(line string) {
			printed = append(printed, line)
		}}
		for _, full = range []error{nil, errors.New("first"), errors.New("still"), nil, errors.New("anew")} {
			for range 100 {
				d.failed()
			}
			time.Sleep(betweenChecks)
			synctest.Wait()
		}
		if !slices.Equal(printed, []string{"first", "anew"}) || looks != 5 {
			t.Errorf("printed %q after %d looks", printed, looks)
		}
	})
}
