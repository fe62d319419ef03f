package clarity

// The writes of attempts, for the test of their conditions.
var (
	Write        = (*Service).write
	InProgressAt = inProgressAt
	StoreClaim   = (*Service).storeClaim
	Settle       = (*Service).settle
)
