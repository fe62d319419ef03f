package askahuman

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// A device subscribes, changes its subscription and ends it.
func TestSubscription(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	one := c.newPerson()
	token := onesynthtest.Unique("token")
	made := one.subscribe(t, subscribe{Token: token, Interval: 5})
	if made.Status != "active" || made.SubscriptionID == "" {
		t.Errorf("got %+v; want an active subscription", made)
	}
	if again := one.subscribe(t, subscribe{Token: token, Interval: 60}); again.SubscriptionID != made.SubscriptionID {
		t.Errorf("got %s for the same token; want %s", again.SubscriptionID, made.SubscriptionID)
	}
	path := "/human/push/subscribe/" + made.SubscriptionID
	changed := onesynthtest.Read[subscription](t, one.try(t, http.MethodPut, path, subscribe{Token: onesynthtest.Unique("token"), Interval: 1440}), http.StatusOK)
	if changed != made {
		t.Errorf("got %+v; want %+v", changed, made)
	}
	// The token is free again.
	if other := c.newPerson().subscribe(t, subscribe{Token: token}); other.SubscriptionID == made.SubscriptionID {
		t.Error("a token that was given up still has its subscription")
	}
	onesynthtest.Read[struct{}](t, one.try(t, http.MethodDelete, path, nil), http.StatusNoContent)
	refused(t, one.try(t, http.MethodDelete, path, nil), http.StatusNotFound, "SUBSCRIPTION_NOT_FOUND")
	refused(t, one.try(t, http.MethodPut, path, subscribe{Interval: 30}), http.StatusNotFound, "SUBSCRIPTION_NOT_FOUND")
}

// The service worker of the original's page knows only its new token: the person's fingerprint, or
// the old token, says which subscription it renews.
func TestSubscriptionRenewedWithoutId(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	one, stranger := c.newPerson(), c.newPerson()
	old := onesynthtest.Unique("token")
	made := one.subscribe(t, subscribe{Token: old, Interval: 1440})
	type renewal struct {
		Token    string `json:"fcm_token"`
		OldToken string `json:"old_fcm_token,omitempty"`
	}
	const path = "/human/push/subscribe"
	second, third := onesynthtest.Unique("token"), onesynthtest.Unique("token")
	refused(t, stranger.try(t, http.MethodPut, path, renewal{Token: second}), http.StatusNotFound, "SUBSCRIPTION_NOT_FOUND")
	for _, reply := range []onesynthtest.Reply{
		one.try(t, http.MethodPut, path, renewal{Token: second}),
		c.MustSend(t, http.MethodPut, path, nil, renewal{Token: third, OldToken: second}),
	} {
		if got := onesynthtest.Read[subscription](t, reply, http.StatusOK); got != made {
			t.Errorf("got %+v; want %+v", got, made)
		}
	}
	if again := one.subscribe(t, subscribe{Token: third, Interval: 30}); again.SubscriptionID != made.SubscriptionID {
		t.Errorf("got %s for the newest token; want %s", again.SubscriptionID, made.SubscriptionID)
	}
	onesynthtest.Read[struct{}](t, one.try(t, http.MethodDelete, path+"/"+made.SubscriptionID, nil), http.StatusNoContent)
	refused(t, one.try(t, http.MethodPut, path, renewal{Token: third}), http.StatusNotFound, "SUBSCRIPTION_NOT_FOUND")
}
