package lingible

import (
	"context"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// What operations do with the tables, for tests of what happens between a read and a write.
var (
	StoreTier        = (*Service).storeTier
	StoreTranslation = (*Service).storeTranslation
	StoredEntry      = (*Service).entry
	CountTerm        = (*Service).countTerm
	CountedTrends    = (*Service).countedTrends
	StoreScore       = (*Service).storeScore
	QuizSession      = (*Service).quizSession
	StoreQuestion    = (*Service).storeQuestion
	StoreAnswer      = (*Service).storeAnswer
	StoreEnd         = (*Service).storeEnd
	ExportDigest     = (*Exporter).exportDigest
	Entries          = (*Exporter).entries
	SlugsOf          = slugsOf
)

// StoredSubmission reads a submission as it is now.
func StoredSubmission(ctx context.Context, s *Service, slug, id string) (lingible.Submission, bool, error) {
	return s.submissionAt(ctx, submissionKey(slug, id))
}
