package runtest

import "github.com/onesynth-cdk/onesynth/run/internal/trace"

// DefaultMemory is the memory of a function in MB, where no prop names another.
const DefaultMemory = trace.DefaultMemory

// Price is the price of a million requests in US$, by what it is for.
type Price = trace.Price

// PriceOf returns the price of requests that use these units of DynamoDB each, and take so many milliseconds in a
// function with that memory in MB.
func PriceOf(reads, writes, milliseconds float64, memory int) Price {
	return trace.PriceOf(reads, writes, milliseconds, memory)
}
