package services_test

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	buckets "github.com/onesynth-cdk/onesynth/run/internal/services/s3"
	"github.com/onesynth-cdk/onesynth/run/internal/services/servicestest"
)

// repeated is a text that a request of refusals.txtar has several times.
var repeated = regexp.MustCompile(`‹(\d+) × ([^‹›]*)›`)

// unfold writes repeated texts out, the innermost first.
func unfold(request string) string {
	for repeated.MatchString(request) {
		request = repeated.ReplaceAllStringFunc(request, func(match string) string {
			parts := repeated.FindStringSubmatch(match)
			times, _ := strconv.Atoi(parts[1])
			all, between := make([]string, times), ""
			if strings.ContainsAny(parts[2][:1], `{"`) {
				between = ", "
			}
			for i := range all {
				all[i] = strings.ReplaceAll(parts[2], "#", strconv.Itoa(i))
			}
			return strings.Join(all, between)
		})
	}
	return request
}

// A run refuses what it says that it refuses, and takes what it says that it takes.
func TestRefusals(t *testing.T) {
	t.Parallel()
	f := start(t, everything, func(o *services.Options) {
		o.Buckets = must.Get(buckets.New(t.TempDir(), o.Assembly))(t)
	})
	t.Cleanup(f.server.Events.Close)
	must.Get(f.send(t, "S3 PutObject", "PUT /lake/a"))(t)
	queues := strings.TrimSuffix(f.server.Queue("work").URL, "work")
	receipt := regexp.MustCompile(`"ReceiptHandle":\s*"([^"]*)"`)
	for _, refusal := range servicestest.Refusals(t) {
		if len(refusal.Requests) == 0 && refusal.Code != "" {
			t.Errorf("%s, %s: there is no request of it", refusal.Call, refusal.Of)
		}
		received := ""
		for _, request := range refusal.Requests {
			call, code := refusal.Call, refusal.Code
			request = strings.NewReplacer("QUEUES/", queues, "RECEIPT", received).Replace(unfold(request))
			if before, ok := strings.CutPrefix(request, "after "); ok {
				i := strings.Index(before, " {")
				call, request, code = before[:i], before[i+1:], ""
			}
			answer, err := f.send(t, call, request)
			failed, ok := errors.AsType[*failure](err)
			if ok && failed.Type != code || !ok && (err != nil || code != "") {
				t.Errorf("%s, %s: %.200s gets %s, %v, want the code %q", refusal.Call, refusal.Of, request, answer,
					err, code)
			}
			if got := receipt.FindStringSubmatch(answer); got != nil {
				received = got[1]
			}
		}
	}
}
