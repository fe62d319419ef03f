package dynamo

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// keyFits returns a [*validate.Error] if DynamoDB would refuse values of key attributes, of the table or an index,
// because they are empty or too long. Of several attributes that are too long together, it names the longest.
func keyFits(table schema.Table, values Item) error {
	var problems validate.Problems
	var wrong []string // an attribute may be in several keys
	add := func(name, format string, arguments ...any) {
		if !slices.Contains(wrong, name) {
			wrong = append(wrong, name)
			problems.Add(name, validate.RuleLength, format, arguments...)
		}
	}
	check := func(limit int, attributes []string) {
		sum, longest, most := 0, "", 0
		for _, name := range attributes {
			size, measured := bytesOf(values[name])
			if measured && size == 0 {
				add(name, "is empty, but is a part of a key: write a character or more")
			}
			if size > most {
				longest, most = name, size
			}
			sum += size
		}
		if sum > limit {
			add(longest, "has %d bytes, but is a part of a key: write at most %d bytes; a character has 1 to 4", most,
				limit-(sum-most))
		}
	}
	check(schema.MaxPartitionKeyBytes, []string{table.Key.Partition})
	check(schema.MaxSortKeyBytes, []string{table.Key.Sort})
	for _, index := range table.Indexes {
		check(schema.MaxPartitionKeyBytes, index.PartitionAttributes())
		check(schema.MaxSortKeyBytes, index.SortAttributes())
	}
	return problems.Err()
}

// bytesOf returns the size of a text or of bytes. No other value can be too long for a key.
func bytesOf(value types.AttributeValue) (size int, measured bool) {
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return len(value.Value), true
	case *types.AttributeValueMemberB:
		return len(value.Value), true
	}
	return 0, false
}
