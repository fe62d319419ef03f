package askahuman

import (
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A device subscribes, changes its subscription and ends it.
func TestSubscription(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	one := c.newPerson()
	token := platform.Unique("token")
	made := one.subscribe(t, subscribe{Token: token, Interval: 5})
	if made.Status != "active" || made.SubscriptionID == "" {
		t.Errorf("got %+v; want an active subscription", made)
	}
	if again := one.subscribe(t, subscribe{Token: token, Interval: 60}); again.SubscriptionID != made.SubscriptionID {
		t.Errorf("got %s for the same token; want %s", again.SubscriptionID, made.SubscriptionID)
	}
	path := "/human/push/subscribe/" + made.SubscriptionID
	changed := platform.Read[subscription](t, one.try(t, http.MethodPut, path, subscribe{Token: platform.Unique("token"), Interval: 1440}), http.StatusOK)
	if changed != made {
		t.Errorf("got %+v; want %+v", changed, made)
	}
	// The token is free again.
	if other := c.newPerson().subscribe(t, subscribe{Token: token}); other.SubscriptionID == made.SubscriptionID {
		t.Error("a token that was given up still has its subscription")
	}
	platform.Read[struct{}](t, one.try(t, http.MethodDelete, path, nil), http.StatusNoContent)
	refused(t, one.try(t, http.MethodDelete, path, nil), http.StatusNotFound, "SUBSCRIPTION_NOT_FOUND")
	refused(t, one.try(t, http.MethodPut, path, subscribe{Interval: 30}), http.StatusNotFound, "SUBSCRIPTION_NOT_FOUND")
}

// What is wrong with a subscription is refused with the field's name.
func TestSubscriptionRefusesInvalid(t *testing.T) {
	t.Parallel()
	target := shared(t)
	target.LocalOnly(t, "it uses up an hour's calls of this machine's address")
	for name, test := range map[string]struct {
		body  any
		field string
	}{
		"NoToken":       {map[string]any{"min_interval_minutes": 30}, "fcm_token"},
		"LongToken":     {subscribe{Token: strings.Repeat("x", 4097)}, "fcm_token"},
		"BrokenToken":   {subscribe{Token: "two words"}, "fcm_token"},
		"ShortInterval": {subscribe{Token: "t", Interval: 4}, "min_interval_minutes"},
		"LongInterval":  {subscribe{Token: "t", Interval: 1441}, "min_interval_minutes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := newClient(t, target).newPerson()
			invalid(t, one.try(t, http.MethodPost, "/human/push/subscribe", test.body), test.field)
		})
	}
}
