package routes

import (
	"fmt"
	"path/filepath"
	"strings"
)

// The sections of a page of routes. Each is a table.
const (
	SectionCalls  = "Calls of DynamoDB"
	SectionPrices = "A million requests"
	SectionGrowth = "With more items"
)

// Page returns the path of the page about a platform's routes, such as docs/reference/routes/todo.md, below the
// repository's folder.
func Page(root, platform string) string {
	return filepath.Join(root, "docs", "reference", "routes", platform+".md")
}

// Replace returns the content of a page with another table in a section. It fails if the page lacks the section.
func Replace(content, section, table string) (string, error) {
	heading := "\n## " + section + "\n\n"
	before, after, ok := strings.Cut(content, heading)
	if !ok {
		return "", fmt.Errorf("the page of routes has no section %q: add its heading", section)
	}
	_, rest, more := strings.Cut(after, "\n## ")
	if more {
		rest = "\n## " + rest
	}
	return before + heading + table + rest, nil
}
