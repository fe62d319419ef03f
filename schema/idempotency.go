package schema

// The access patterns of [IdempotencyPatterns].
const (
	ClaimIdempotencyKey  = "ClaimIdempotencyKey"
	SettleIdempotencyKey = "SettleIdempotencyKey"
	// ReadIdempotencyKey is the pattern of [ReadIdempotency].
	ReadIdempotencyKey = "ReadIdempotencyKey"
)

// IdempotencyAttributes returns the attributes of the items that keep idempotency keys, beside their key and the
// table's time to live. lambdas/kit/idempotency writes them.
func IdempotencyAttributes() []Attribute {
	return []Attribute{
		{"request_digest", String, "SHA-256 of the request that first used the key, hexadecimal"},
		{"claim", String, "Random token of the attempt that may carry out the request; absent when none does"},
		{"claimed_until", Number, "Unix milliseconds until which the attempt may still be running; then another may " +
			"take over"},
		{"http_status_code", Number, "Status that the request was answered with; absent until then"},
		{"response_data", String, "Body that the request was answered with; Binary if it is not UTF-8"},
	}
}

// IdempotencyPatterns returns the access patterns by which these functions keep idempotency keys in a table. The table
// has a time to live and the [IdempotencyAttributes]. The transaction that does a request's work ends with an optional
// UpdateItem of that table, which keeps the answer.
func IdempotencyPatterns(table string, functions ...string) []AccessPattern {
	return []AccessPattern{
		{
			Name: ClaimIdempotencyKey,
			Description: "Claim a key for one attempt at its request, unless the request is answered, or another " +
				"attempt is running, or the key " +
				"belongs to another request.",
			Action: UpdateItem, Table: table, Functions: functions,
		},
		{
			Name: SettleIdempotencyKey,
			Description: "Keep the answer to a request that changed nothing, or give the claim back, if it is still " +
				"this attempt's.",
			Action: UpdateItem, Table: table, Functions: functions,
		},
	}
}

// ReadIdempotency returns the further pattern that functions need whose requests claim a key with their first write.
func ReadIdempotency(table string, functions ...string) AccessPattern {
	return AccessPattern{
		Name: ReadIdempotencyKey,
		Description: "What an earlier attempt at a request came to, for one that has failed before its first write " +
			"and has not claimed the key.",
		Action: GetItem, Table: table, Consistent: true, Functions: functions,
	}
}

// KeepAnswer returns the write that keeps a request's answer under its idempotency key. It is the last write of the
// transaction that does the request's work.
func KeepAnswer(table string) Write {
	return Write{Table: table, Action: UpdateItem, Optional: true,
		Description: "the answer, under the request's idempotency key, if no other attempt has taken it"}
}

// ClaimKey returns the write that claims a request's idempotency key. It is the last write of the transaction that
// begins the request's work.
func ClaimKey(table string) Write {
	return Write{Table: table, Action: UpdateItem, Optional: true,
		Description: "the claim on the request's idempotency key, if no other attempt has it"}
}
