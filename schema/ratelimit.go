package schema

// CountRequest is the access pattern of [RateLimitPatterns].
const CountRequest = "CountRequest"

// RateLimitAttributes returns the attributes of the items that count requests, beside their key and the table's time to
// live. lambdas/kit/ratelimit writes them.
func RateLimitAttributes() []Attribute {
	return []Attribute{
		{"requests", Number, "Calls counted in the window of a rate limit"},
		{"ahead", Number, "By how many calls the count may be ahead of those that were made, or behind them"},
		{"instances", Number, "Processes that count in steps in this window"},
		{"last_request", String, "Random token of the call that was counted last, which is not counted again when " +
			"its answer was lost"},
	}
}

// RateLimitPatterns returns the access patterns by which the functions that serve a route with a limit count requests
// in a table. The table has a time to live and the [RateLimitAttributes].
func RateLimitPatterns(table string, functions ...string) []AccessPattern {
	return []AccessPattern{{
		Name:        CountRequest,
		Description: "Count a call towards a rate limit, unless the limit is reached.",
		Action:      UpdateItem, Table: table, Functions: functions,
	}}
}
