package askahuman

import (
	"strings"
	"unicode"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// NewSubscription is a request to notify a device.
type NewSubscription struct {
	Token    string `json:"fcm_token" minLength:"1" maxLength:"4096" doc:"The device's Firebase Cloud Messaging token, without white space."`
	Interval *int   `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time from a notification of the person, on any of their devices, to the next one on this device; 30 by default." example:"30"`
}

// Check finds white space in the token.
func (s NewSubscription) Check(p *validate.Problems, _ string) { checkToken(p, "fcm_token", &s.Token) }

// SubscriptionChange is a change of a subscription.
type SubscriptionChange struct {
	Token    *string `json:"fcm_token,omitempty" nullable:"true" minLength:"1" maxLength:"4096" doc:"The device's new Firebase Cloud Messaging token, without white space."`
	Interval *int    `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time between two notifications." example:"60"`
}

// Check finds a change of nothing, and white space in the token.
func (s SubscriptionChange) Check(p *validate.Problems, _ string) {
	if s == (SubscriptionChange{}) {
		p.Add("body", validate.RuleRequired, "changes nothing; send fcm_token, min_interval_minutes, or both")
	}
	checkToken(p, "fcm_token", s.Token)
}

// SubscriptionRenewal is a device whose token has changed.
type SubscriptionRenewal struct {
	Token    string  `json:"fcm_token" minLength:"1" maxLength:"4096" doc:"The device's new Firebase Cloud Messaging token, without white space."`
	OldToken *string `json:"old_fcm_token,omitempty" nullable:"true" minLength:"1" maxLength:"4096" doc:"The one that it had before."`
	Interval *int    `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time between two notifications; as it was by default." example:"60"`
}

// Check finds white space in the tokens.
func (s SubscriptionRenewal) Check(p *validate.Problems, _ string) {
	checkToken(p, "fcm_token", &s.Token)
	checkToken(p, "old_fcm_token", s.OldToken)
}

func checkToken(p *validate.Problems, field string, token *string) {
	if token != nil && strings.ContainsFunc(*token, unicode.IsSpace) && !validate.IsBlank(*token) {
		p.Add(field, validate.RuleFormat, "contains white space; send the token exactly as Firebase Cloud Messaging "+
			"gave it")
	}
}
