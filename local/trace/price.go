package trace

import (
	"fmt"
	"math"
)

// List prices of us-east-1 in US$, November 2026. docs/COST.md has no others for requests.
const (
	// A million units of on-demand capacity ("Amazon DynamoDB pricing").
	priceOfReads, priceOfWrites = 0.125, 0.625
	// A million requests ("Amazon API Gateway pricing": HTTP APIs).
	priceOfGateway = 1.00
	// A million invocations, and a GB-second on arm64 ("AWS Lambda pricing").
	priceOfInvocations, priceOfGBSecond = 0.20, 0.0000133334
)

// DefaultMemory is a function's memory in MB where its schema names none.
const DefaultMemory = 256

// Price is what a million requests cost, in US$.
type Price struct {
	// Milliseconds are those of one request that AWS Lambda bills.
	Milliseconds              float64
	DynamoDB, Lambda, Gateway float64
}

// PriceOf returns the price of requests that use these units of DynamoDB each, and take that long in a function
// with the memory, in MB. AWS Lambda bills a millisecond that has begun.
func PriceOf(reads, writes, milliseconds float64, memory int) Price {
	billed := math.Ceil(milliseconds)
	return Price{
		Milliseconds: billed,
		DynamoDB:     reads*priceOfReads + writes*priceOfWrites,
		Lambda:       priceOfInvocations + 1e6*billed/1000*float64(memory)/1024*priceOfGBSecond,
		Gateway:      priceOfGateway,
	}
}

// String returns the figures and their sum, separated by tabs.
func (p Price) String() string {
	return fmt.Sprintf("%.0f\t%.2f\t%.2f\t%.2f\t%.2f", p.Milliseconds, p.DynamoDB, p.Lambda, p.Gateway, p.DynamoDB+p.Lambda+p.Gateway)
}
