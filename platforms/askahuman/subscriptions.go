package askahuman

// NewSubscription is a request to notify a device.
type NewSubscription struct {
	Token    string `json:"fcm_token" minLength:"1" maxLength:"4096" doc:"The device's Firebase Cloud Messaging token, without white space."`
	Interval *int   `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time from a notification of the person, on any of their devices, to the next one on this device; 30 by default." example:"30"`
}

// SubscriptionChange is a change of a subscription.
type SubscriptionChange struct {
	Token    *string `json:"fcm_token,omitempty" nullable:"true" minLength:"1" maxLength:"4096" doc:"The device's new Firebase Cloud Messaging token, without white space."`
	Interval *int    `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time between two notifications." example:"60"`
}

// SubscriptionRenewal is a device whose token has changed.
type SubscriptionRenewal struct {
	Token    string  `json:"fcm_token" minLength:"1" maxLength:"4096" doc:"The device's new Firebase Cloud Messaging token, without white space."`
	OldToken *string `json:"old_fcm_token,omitempty" nullable:"true" minLength:"1" maxLength:"4096" doc:"The one that it had before."`
	Interval *int    `json:"min_interval_minutes,omitempty" nullable:"true" minimum:"5" maximum:"1440" doc:"The least time between two notifications; as it was by default." example:"60"`
}
