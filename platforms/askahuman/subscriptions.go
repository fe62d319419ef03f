package askahuman

import (
	"cmp"
	"strings"
	"time"
	"unicode"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Subscription is a device that receives notifications, or the item that names the subscription of a token or a person.
type Subscription struct {
	ID    string `dynamodbav:"subscription_id" attribute:"UUID, partition key; or TOKEN# and the SHA-256 of a token; or PERSON# and the fingerprint_hash"`
	Token string `dynamodbav:"fcm_token,omitempty" attribute:"Firebase Cloud Messaging token"`
	// Minutes are the least time between notifications.
	Minutes int `dynamodbav:"min_interval_minutes,omitempty" attribute:"The person's preferred least time between notifications, 5 to 1440"`
	// The Unix epoch means never, because the index leaves out items without it.
	LastNotifiedAt     time.Time `dynamodbav:"last_notified_at,omitempty" attribute:"When the person was last notified, the Unix epoch if never: {time}"`
	NextNotificationAt time.Time `dynamodbav:"next_notification_at,omitempty" attribute:"From when the person may be notified again: {time}"`
	CreatedAt          time.Time `dynamodbav:"created_at,omitempty" attribute:"{time}"`
	UpdatedAt          time.Time `dynamodbav:"updated_at,omitempty" attribute:"{time}"`
	Claim              string    `dynamodbav:"claim,omitempty" attribute:"Random token of the notifier's write that claimed it last"`
	// SubscriptionActive, or empty.
	Active string `dynamodbav:"active,omitempty" attribute:"true while the subscription is active; absent otherwise"`
	// Empty: subscribed without a fingerprint.
	PersonHash string `dynamodbav:"fingerprint_hash,omitempty" attribute:"Anonymised person, if the subscription was made with a fingerprint"`
	TokenOwner string `dynamodbav:"token_owner,omitempty" attribute:"On a TOKEN# item: the subscription that has the token; on a PERSON# item: the person's last one"`
}

// SubscriptionActive is the key of active subscriptions, since a Boolean cannot be a key.
const SubscriptionActive = "true"

// Interval returns the least time between notifications.
func (s Subscription) Interval() time.Duration { return time.Duration(s.Minutes) * time.Minute }

// Never is the LastNotifiedAt of a person who was never notified.
var Never = time.Unix(0, 0)

// Renewed returns the subscription as active from now on. minutes replaces its interval unless it is 0, and personHash
// its person unless it is "".
func (s Subscription) Renewed(minutes int, personHash string, now time.Time) Subscription {
	s.Minutes, s.PersonHash = cmp.Or(minutes, s.Minutes), cmp.Or(personHash, s.PersonHash)
	s.Active, s.UpdatedAt, s.NextNotificationAt = SubscriptionActive, now, Never
	if s.LastNotifiedAt.After(Never) {
		s.NextNotificationAt = s.LastNotifiedAt.Add(s.Interval())
	}
	return s
}

// NewSubscription is a request to notify a device.
type NewSubscription struct {
	Token    string `json:"fcm_token" minLength:"1" maxLength:"4096" doc:"The device's Firebase Cloud Messaging token, without white space."`
	Interval *int   `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time from a notification of the person, on any of their devices, to the next one on this device; 30 by default." example:"30"`
}

// Check adds a problem for white space in the token.
func (s NewSubscription) Check(p *validate.Problems, _ string) { checkToken(p, "fcm_token", &s.Token) }

// SubscriptionChange is a change of a subscription.
type SubscriptionChange struct {
	Token    *string `json:"fcm_token,omitempty" nullable:"true" minLength:"1" maxLength:"4096" doc:"The device's new Firebase Cloud Messaging token, without white space."`
	Interval *int    `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time between two notifications." example:"60"`
}

// Check adds a problem for a change of nothing, and for white space in the token.
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

// Check adds a problem for white space in the tokens.
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

// Subscribed is a device that is notified.
type Subscribed struct {
	SubscriptionID string `json:"subscription_id" format:"uuid"`
	Status         string `json:"status" enum:"active"`
}
