package httpapi

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// MetricServerErrors counts the responses from 500 up: a sum over five minutes
// unless options say otherwise; options may be nil.
func (a *API) MetricServerErrors(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return a.Resource.MetricServerError(options)
}

// MetricClientErrors counts the responses from 400 to 499: a sum over five
// minutes unless options say otherwise; options may be nil.
func (a *API) MetricClientErrors(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return a.Resource.MetricClientError(options)
}

// MetricRequests counts the requests: a sum over five minutes unless options say
// otherwise; options may be nil.
func (a *API) MetricRequests(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return a.Resource.MetricCount(options)
}

// MetricLatency is the time from request to response in milliseconds: an average
// over five minutes unless options say otherwise; options may be nil.
func (a *API) MetricLatency(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return a.Resource.MetricLatency(options)
}

// MetricServerErrorRate is the percentage of requests that end with 500 or more, in each five minutes.
func (a *API) MetricServerErrorRate() awscloudwatch.MathExpression {
	return rate("100 * errors / requests", "5xx of 100 requests",
		map[string]awscloudwatch.IMetric{"errors": a.MetricServerErrors(nil), "requests": a.MetricRequests(nil)})
}

// busy is the number of requests in five minutes from which on a rate of refusals means more than
// one caller's experiments.
const busy = 100

// MetricClientErrorRate is the percentage of requests that end with 400 to 499, in each five minutes. It is 0 if there
// are fewer than 100 requests.
func (a *API) MetricClientErrorRate() awscloudwatch.MathExpression {
	return rate(fmt.Sprintf("IF(requests < %d, 0, 100 * refusals / requests)", busy), "4xx of 100 requests",
		map[string]awscloudwatch.IMetric{"refusals": a.MetricClientErrors(nil), "requests": a.MetricRequests(nil)})
}

// MetricSlowRate is the percentage of requests that take longer than that, in each five minutes. It is 0 if there are
// fewer than 100 requests. It leaves out as many requests as the metrics in held count, which take longer on purpose.
// The ids in held begin with a lower-case letter, and are not "slow" or "requests".
func (a *API) MetricSlowRate(than time.Duration, held map[string]awscloudwatch.IMetric) awscloudwatch.MathExpression {
	metrics := map[string]awscloudwatch.IMetric{
		"slow": a.MetricLatency(&awscloudwatch.MetricOptions{
			Statistic: jsii.String(fmt.Sprintf("TC(%d:)", than.Milliseconds()))}),
		"requests": a.MetricRequests(nil),
	}
	counted := "slow"
	for _, id := range slices.Sorted(maps.Keys(held)) {
		metrics[id] = held[id]
		// A function that has counted none reports no zero.
		counted += " - FILL(" + id + ", 0)"
	}
	return rate(fmt.Sprintf("IF(requests < %d, 0, 100 * (%s) / requests)", busy, counted), "slow ones of 100 requests",
		metrics)
}

func rate(expression, label string, metrics map[string]awscloudwatch.IMetric) awscloudwatch.MathExpression {
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression:   &expression,
		Label:        &label,
		UsingMetrics: &metrics,
	})
}
