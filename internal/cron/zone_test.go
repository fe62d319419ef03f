package cron_test

import (
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/cron"
)

func TestZone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Asia/Tokyo", "EST5EDT", "Etc/GMT+5", "GMT-0", "W-SU",
		"America/Argentina/Buenos_Aires", "America/Port-au-Prince"} {
		if zone, err := cron.Zone(name); err != nil || zone.String() != name {
			t.Errorf("%s: got %v, %v", name, zone, err)
		}
	}
	if zone, err := cron.Zone(""); zone != time.UTC || err != nil {
		t.Errorf("no name: got %v, %v; want UTC", zone, err)
	}
	for _, name := range []string{"Local", "Mars/Olympus", "../../etc/passwd", "Asia/Tokyo\x00",
		// What a machine's copy of the database has beside zones, and other spellings of its files.
		"posixrules", "localtime", "Factory", "posix/Asia/Tokyo", "right/UTC", "Posixrules", "Asia//Tokyo",
		"./Asia/Tokyo", "Asia/./Tokyo", "Asia/Tokyo/", "/Asia/Tokyo", " UTC", "UTC\n", "zone.tab"} {
		if zone, err := cron.Zone(name); err == nil {
			t.Errorf("%q: got %v; want an error", name, zone)
		}
	}
}
