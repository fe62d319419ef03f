package props

import (
	"cmp"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// LogRetention is how long a log group keeps its events, in days. The zero value
// is [OneMonth].
type LogRetention int

// The retentions of Amazon CloudWatch Logs ("PutRetentionPolicy", API reference) that are useful here.
const (
	OneDay      LogRetention = 1
	OneWeek     LogRetention = 7
	TwoWeeks    LogRetention = 14
	OneMonth    LogRetention = 30
	TwoMonths   LogRetention = 60
	ThreeMonths LogRetention = 90
	SixMonths   LogRetention = 180
	OneYear     LogRetention = 365
	// ThirteenMonths, EighteenMonths and ThreeYears are 400, 545 and 1,096 days.
	ThirteenMonths LogRetention = 400
	EighteenMonths LogRetention = 545
	TwoYears       LogRetention = 731
	ThreeYears     LogRetention = 1096
	FiveYears      LogRetention = 1827
	TenYears       LogRetention = 3653
	// Forever keeps events until the log group is deleted.
	Forever LogRetention = -1
)

var retentions = map[LogRetention]awslogs.RetentionDays{
	0:              awslogs.RetentionDays_ONE_MONTH,
	OneDay:         awslogs.RetentionDays_ONE_DAY,
	OneWeek:        awslogs.RetentionDays_ONE_WEEK,
	TwoWeeks:       awslogs.RetentionDays_TWO_WEEKS,
	OneMonth:       awslogs.RetentionDays_ONE_MONTH,
	TwoMonths:      awslogs.RetentionDays_TWO_MONTHS,
	ThreeMonths:    awslogs.RetentionDays_THREE_MONTHS,
	SixMonths:      awslogs.RetentionDays_SIX_MONTHS,
	OneYear:        awslogs.RetentionDays_ONE_YEAR,
	ThirteenMonths: awslogs.RetentionDays_THIRTEEN_MONTHS,
	EighteenMonths: awslogs.RetentionDays_EIGHTEEN_MONTHS,
	ThreeYears:     awslogs.RetentionDays_THREE_YEARS,
	Forever:        awslogs.RetentionDays_INFINITE,
	TwoYears:       awslogs.RetentionDays_TWO_YEARS,
	FiveYears:      awslogs.RetentionDays_FIVE_YEARS,
	TenYears:       awslogs.RetentionDays_TEN_YEARS,
}

// Check adds a finding at path unless r is zero or one of the constants.
func (r LogRetention) Check(f *finding.List, path string) {
	if _, ok := retentions[r]; !ok {
		f.Add(path, int(r), "1, 7, 14, 30, 60, 90, 180, 365, 400, 545, 731, 1096, 1827 or 3653 days, or "+
			"props.Forever (-1)",
			"use one of the constants of package props, such as props.OneMonth")
	}
}

// Days returns the CDK's value of a valid retention.
func (r LogRetention) Days() awslogs.RetentionDays { return retentions[r] }

// Number returns the days of a valid retention.
func (r LogRetention) Number() int {
	return int(cmp.Or(r, OneMonth))
}
