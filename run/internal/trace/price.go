package trace

import (
	"fmt"
	"math"
)

// List prices of us-east-1 in US$, November 2026. docs/operate/cost.md has no others for requests.
const (
	// A million units of on-demand capacity ("Amazon DynamoDB pricing").
	priceOfReads, priceOfWrites = 0.125, 0.625
	// A million requests ("Amazon API Gateway pricing": HTTP APIs).
	priceOfGateway = 1.00
	// A million invocations, and a GB-second on arm64 ("AWS Lambda pricing").
	priceOfInvocations, priceOfGBSecond = 0.20, 0.0000133334
	// A GB of logs ("Amazon CloudWatch pricing").
	priceOfLogs = 0.50
)

// The bytes that a request writes to logs: a line of its function and one of the API's access log, and the metric of a
// request that changed something.
const bytesOfLog, bytesOfMetric = 300 + 450, 350

// DefaultMemory is a function's memory in MB where its schema names none.
const DefaultMemory = 256

// Price is what a million requests cost, in US$.
type Price struct {
	// Milliseconds are those of one request that AWS Lambda bills.
	Milliseconds                    float64
	DynamoDB, Lambda, Gateway, Logs float64
}

// PriceOf returns the price of requests that use these units of DynamoDB each, and take that long in a function
// with the memory, in MB. AWS Lambda bills a millisecond that has begun.
func PriceOf(reads, writes, milliseconds float64, memory int) Price {
	billed := math.Ceil(milliseconds)
	logged := float64(bytesOfLog)
	if writes >= 0.95 { // less is a share of a counter's unit; a mean of ones is measured as a little less than one
		logged += bytesOfMetric
	}
	return Price{
		Milliseconds: billed,
		DynamoDB:     reads*priceOfReads + writes*priceOfWrites,
		Lambda:       priceOfInvocations + 1e6*billed/1000*float64(memory)/1024*priceOfGBSecond,
		Gateway:      priceOfGateway,
		Logs:         logged * 1e6 / 1e9 * priceOfLogs,
	}
}

// Sum is what it comes to.
func (p Price) Sum() float64 { return p.DynamoDB + p.Lambda + p.Gateway + p.Logs }

// String returns the figures and their sum, separated by tabs.
func (p Price) String() string {
	return fmt.Sprintf("%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f", p.Milliseconds, p.DynamoDB, p.Lambda, p.Gateway, p.Logs,
		p.Sum())
}
