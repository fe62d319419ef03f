package lingible_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// TestWriteUnits compares the write units of requests that write indexed items with those of
// docs/reference/costs/lingible.md: as DynamoDB counts them, and with the indexes of a transaction doubled, as
// DynamoDB Local counts them.
func TestWriteUnits(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	ctx, ann := t.Context(), m.Premium(t, "ann")
	var submitted lingible.Submission
	voter := m.Premium(t, "voter")
	m.voters(1)
	for _, test := range []struct {
		name         string
		units, local float64
		do           func() error
	}{
		{"submit", 10, 14, func() (err error) {
			submitted, err = m.Submit(ctx, ann, proposal("measured"))
			return err
		}},
		{"validate", 6, 6, func() error { return m.Validate(ctx, lingible.Slug(submitted.Term), submitted.ID) }},
		{"vote", 7, 8, func() error { return second(m.Vote(ctx, voter, submitted.ID)) }},
		{"approve", 8, 12, func() error { return second(m.Approve(ctx, "admin", submitted.ID)) }},
		{"translate", 1, 1, func() error {
			return second(m.Translate(ctx, m.Caller("voter 0"), lingible.TranslationInput{Text: "no cap"}))
		}},
		{"translate and keep", 4, 4, func() error {
			return second(m.Translate(ctx, ann, lingible.TranslationInput{Text: "no cap"}))
		}},
	} {
		ledger := m.Tables.Writes(t, func() {
			must.OK(t, test.do())
		})
		if got, local := ledger.Units(false), ledger.Units(true); got != test.units || local != test.local {
			t.Errorf("%s: got %v write units, and %v with doubled indexes; want %v and %v:\n%s", test.name, got, local,
				test.units, test.local, ledger)
		}
	}
}
