package s3

import (
	"fmt"
	"strings"
)

// Page is a page of a bucket, as people browse it.
type Page struct {
	// Folders are the parts of keys that end with the next slash after the prefix.
	Folders []string `json:"folders"`
	// Objects are those below the prefix whose keys have no further slash.
	Objects []Object `json:"objects"`
	// Next is what After of the next page is; it is empty on the last one.
	Next string `json:"next,omitempty"`
}

// Browse returns up to most folders and objects below a prefix, after a key or folder. Errors: ErrNoBucket.
func (s *Store) Browse(name, prefix, after string, most int) (Page, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	found := s.buckets[name]
	if found == nil {
		return Page{}, fmt.Errorf("%w: got %q", ErrNoBucket, name)
	}
	page := Page{Folders: []string{}, Objects: []Object{}}
	start := prefix
	switch {
	case after == "":
	case after != prefix && strings.HasSuffix(after, "/"):
		start = past(after)
	default:
		start = after + "\x00"
	}
	last := after
	for keys := found.from(max(prefix, start)); len(keys) > 0 && strings.HasPrefix(keys[0], prefix); {
		if len(page.Folders)+len(page.Objects) == most {
			page.Next = last
			break
		}
		last = keys[0]
		slash := strings.IndexByte(last[len(prefix):], '/')
		if slash < 0 {
			page.Objects = append(page.Objects, found.objects[last].Object)
			keys = keys[1:]
			continue
		}
		last = last[:len(prefix)+slash+1]
		page.Folders = append(page.Folders, last)
		keys = found.from(past(last))
	}
	return page, nil
}

// past is before the first key that is not in the folder, and after all that are: 0 is the character after the slash.
func past(folder string) string { return strings.TrimSuffix(folder, "/") + "0" }
