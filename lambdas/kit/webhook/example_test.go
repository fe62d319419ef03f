package webhook_test

import (
	"fmt"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
)

// The receiver of a webhook verifies what its sender has signed.
func ExampleSign() {
	secret, err := webhook.NewSecret([]byte("a key of 24 to 64 bytes."))
	if err != nil {
		fmt.Println(err)
		return
	}
	header, at, body := http.Header{}, time.Unix(1_800_000_000, 0), []byte(`{"booked":"seat 7"}`)
	webhook.Sign(header, "msg_1", at, body, secret)
	fmt.Println(webhook.Verify(header, body, at, secret))
	fmt.Println(webhook.Verify(header, []byte(`{"booked":"seat 8"}`), at, secret) != nil)
	fmt.Println(secret)
	// Output:
	// <nil>
	// true
	// whsec_hidden
}
