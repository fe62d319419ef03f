package lake

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// sequenceDigits is how long a sequence number may be ("StreamRecord", Amazon
// DynamoDB Streams API reference). They are written in this length, so that text
// sorts as numbers do.
const sequenceDigits = 40

// partition is the folder of an entity's changes of one day.
type partition struct {
	entity, date string
}

// entityPrefix begins the keys of an entity's objects.
func entityPrefix(entity string) string { return EventsPrefix + "entity=" + entity + "/" }

// key is the key of an object in the partition.
func (p partition) key(object string) string {
	return entityPrefix(p.entity) + "event_date=" + p.date + "/" + object + ".parquet"
}

// name has the parts of the key of one of the lake's objects.
type name struct {
	partition partition
	// first and last are the lowest and the highest sequence number of its rows, or
	// numbers below and above them. Each shard counts for itself: objects of two shards
	// may have the same numbers.
	first, last string
	// compacted says that the compactor made it.
	compacted bool
	// generation is higher than that of every object that was in the partition when
	// the compactor made it. Zero for the writer's.
	generation int
}

// writtenName is the name of the objects of a batch: its range, and a digest of its
// events, without which the batches of two shards could share a name.
func writtenName(first, last string, eventIDs []string) string {
	return first + "-" + last + "-" + digest(eventIDs)
}

// compactedName is the name of the part-th object that the compactor makes of
// inputs.
func compactedName(first, last string, generation int, inputs []string, part int) string {
	return fmt.Sprintf("c-%s-%s-%d-%s", first, last, generation,
		digest(append([]string{strconv.Itoa(part)}, inputs...)))
}

// digest is short enough to read and too long to meet by chance.
func digest(parts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:10])
}

var keyPattern = regexp.MustCompile(
	`^events/entity=([a-z][a-z0-9_]*)/event_date=(\d{4}-\d{2}-\d{2})/(c-)?(\d{40})-(\d{40})(?:-(\d{1,9}))?-[0-9a-f]{20}\.parquet$`)

// parseKey reads the key of one of the lake's objects. Any other key is not the lake's: its object
// is left alone.
func parseKey(key string) (name, bool) {
	match := keyPattern.FindStringSubmatch(key)
	if match == nil || (match[3] != "") != (match[6] != "") || match[4] > match[5] {
		return name{}, false
	}
	generation, _ := strconv.Atoi(match[6]) // Empty, or digits that fit.
	return name{
		partition: partition{entity: match[1], date: match[2]},
		first:     match[4], last: match[5],
		compacted: match[3] != "", generation: generation,
	}, true
}
