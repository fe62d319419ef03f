package webhook_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
)

func secret(t *testing.T, text string) webhook.Secret {
	t.Helper()
	return must.Get(webhook.ParseSecret(text))(t)
}

// The values are those of the specification and of its libraries.
func TestSign(t *testing.T) {
	t.Parallel()
	header := http.Header{}
	first := secret(t, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	second := secret(t, "whsec_"+strings.Repeat("QUJD", 8))
	body := []byte(`{"test": 2432232314}`)
	at := time.Unix(1614265330, 0)
	webhook.Sign(header, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body, first, second)
	want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got, rest, _ := strings.Cut(header.Get("webhook-signature"), " "); got != want ||
		!strings.HasPrefix(rest, "v1,") {
		t.Errorf("got %q and %q, want %q and another", got, rest, want)
	}
	if got := header.Get("webhook-timestamp"); got != "1614265330" {
		t.Errorf("got the timestamp %q", got)
	}
	for _, s := range []webhook.Secret{first, second} {
		if err := webhook.Verify(header, body, at.Add(webhook.Tolerance), s); err != nil {
			t.Error(err)
		}
	}
}

func TestVerifyErr(t *testing.T) {
	t.Parallel()
	s, other := secret(t, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), secret(t, "whsec_"+strings.Repeat("QUJD", 8))
	at, signed := time.Unix(1614265330, 0), http.Header{}
	webhook.Sign(signed, "a", at, []byte("b"), s)
	signature := signed.Get(webhook.SignatureHeader)
	for name, test := range map[string]struct {
		name, value string // of a header that is changed; no value: it is left out
		body        string
		later       time.Duration
		by          webhook.Secret
		want        error
	}{
		"Body":          {body: "c", by: s, want: webhook.ErrSignature},
		"Secret":        {by: other, want: webhook.ErrSignature},
		"NoSecretKnown": {want: webhook.ErrSignature},
		"ID":            {name: webhook.IDHeader, value: "b", by: s, want: webhook.ErrSignature},
		"LaterSigned":   {name: webhook.TimestampHeader, value: "1614265331", by: s, want: webhook.ErrSignature},
		"Version": {name: webhook.SignatureHeader, value: "v2" + signature[2:], by: s,
			want: webhook.ErrSignature},
		"NoSignature": {name: webhook.SignatureHeader, by: s, want: webhook.ErrHeaders},
		"NoID":        {name: webhook.IDHeader, by: s, want: webhook.ErrHeaders},
		"NoTimestamp": {name: webhook.TimestampHeader, value: "now", by: s, want: webhook.ErrHeaders},
		"Old":         {later: webhook.Tolerance + time.Second, by: s, want: webhook.ErrTimestamp},
		"New":         {later: -webhook.Tolerance - time.Second, by: s, want: webhook.ErrTimestamp},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := signed.Clone()
			if test.name != "" {
				header.Del(test.name)
			}
			if test.value != "" {
				header.Set(test.name, test.value)
			}
			body := []byte(cmp.Or(test.body, "b"))
			if err := webhook.Verify(header, body, at.Add(test.later), test.by); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestSecretErr(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "whsec_", "whsec_?", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_QUJD",
		"whsec_" + strings.Repeat("QUJD", 22)} {
		if _, err := webhook.ParseSecret(text); err == nil || len(text) > 6 && strings.Contains(err.Error(), text[6:]) {
			t.Errorf("%q: got %v, want an error without the secret", text, err)
		}
	}
}

// A secret is in no output, except where it is asked for.
func TestSecretIsHidden(t *testing.T) {
	t.Parallel()
	const text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	s := secret(t, text)
	var log bytes.Buffer
	untimed := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	slog.New(slog.NewJSONHandler(&log, untimed)).Info("m", "secret", s, "all", fmt.Sprintf("%v %+v %#v %s", s, s, s, s))
	const hidden = "whsec_hidden"
	const want = `{"level":"INFO","msg":"m","secret":"` + hidden + `","all":"` + hidden + " " + hidden + " " + hidden +
		" " + hidden + "\"}\n"
	if log.String() != want || s.Reveal() != text {
		t.Errorf("wrote %s, want %s; revealed %q", &log, want, s.Reveal())
	}
}
