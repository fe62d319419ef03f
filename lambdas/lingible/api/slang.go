package api

import (
	"context"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// Page are the parameters of a list.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many to return at most. A page may have fewer and still be continued."`
	Cursor string `query:"cursor" doc:"The next_cursor of the page before."`
}

// SubmissionPath is the path of a submission.
type SubmissionPath struct {
	ID string `path:"submission_id" doc:"The submission's id." example:"550e8400-e29b-41d4-a716-446655440000"`
}

// hasSlug says that text has a letter, digit or symbol among Unicode's first 256 characters.
var hasSlug = httpapi.Pattern(slugPattern)

// slugPattern leaves out what [lingible.Slug] leaves out.
const slugPattern = `[^\u0000-#%-*,-/:;?@[-\]_\u0060{}\u007f-\u00a1\u00a7\u00ab\u00ad\u00b4\u00b6\u00b7\u00bb\u00bf]`

func (s *server) registerSlang() {
	httpapi.Mutate(s.Server, httpapi.Operation{ID: "submitTerm", Status: http.StatusCreated,
		KeyOptional: true,
		Stricter: httpapi.Forms{"body.slang_term": hasSlug, "body.meaning": httpapi.NotBlank,
			"body.example_usage": httpapi.NotBlank},
		Description: "Stores a term that a premium user proposes for the lexicon, up to ten in 24 hours. It is " +
			"validated within a moment: then it is approved, rejected, or open to votes.",
		Errors: []error{
			&lingible.SubscriptionError{What: "submitting terms"},
			&lingible.UsageError{What: "submissions in 24 hours", Limit: 10},
			lingible.ErrTermKnown, lingible.ErrAlreadySubmitted,
		},
	}, func(ctx context.Context, input *httpapi.Input[lingible.Proposal]) (lingible.Submission, error) {
		return s.api.Service.Submit(ctx, callerFrom(ctx), input.Body)
	}, nil)

	httpapi.Serve(s.Server, httpapi.Operation{ID: "listOwnSubmissions", Errors: []error{badQuery()},
		Description: "Returns a page of the caller's submissions. A new one is in the list within a moment.",
	}, func(ctx context.Context, page *Page) (lingible.SubmissionList, error) {
		return s.api.Service.OwnSubmissions(ctx, httpapi.CallerFrom(ctx).ID, page.Limit, page.Cursor)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "listOpenSubmissions", Errors: []error{badQuery()},
		Description: "Returns a page of the submissions that are open to votes.",
	}, func(ctx context.Context, page *Page) (lingible.SubmissionList, error) {
		return s.api.Service.OpenSubmissions(ctx, page.Limit, page.Cursor)
	})

	of := httpapi.Forms{"path.submission_id": httpapi.Format("uuid")}
	httpapi.Serve(s.Server, httpapi.Operation{ID: "voteForSubmission", Stricter: of,
		Description: "Counts the caller's vote, once. The last vote that a submission needs approves it, and its " +
			"term is in the lexicon at once; later votes count, too.",
		Errors: []error{lingible.ErrSubmissionNotFound, lingible.ErrOwnSubmission, lingible.ErrNotOpen,
			lingible.ErrAlreadyVoted},
	}, func(ctx context.Context, path *SubmissionPath) (lingible.Vote, error) {
		return s.api.Service.Vote(ctx, callerFrom(ctx), path.ID)
	})

	decided := []error{lingible.ErrSubmissionNotFound, &lingible.DecidedError{
		Status: lingible.AdminRejected, At: time.Date(2026, 2, 2, 9, 45, 0, 0, time.UTC)}}
	httpapi.Serve(s.Server, httpapi.Operation{ID: "approveSubmission", Stricter: of,
		Errors:      decided,
		Description: "Approves a submission that is pending or open to votes. Its term is in the lexicon at once.",
	}, func(ctx context.Context, path *SubmissionPath) (lingible.Submission, error) {
		return s.api.Service.Approve(ctx, httpapi.CallerFrom(ctx).ID, path.ID)
	})
	httpapi.Serve(s.Server, httpapi.Operation{ID: "rejectSubmission", Stricter: of,
		Errors:      decided,
		Description: "Rejects a submission that is pending or open to votes. It is kept for 90 days.",
	}, func(ctx context.Context, path *SubmissionPath) (lingible.Submission, error) {
		return s.api.Service.Reject(ctx, httpapi.CallerFrom(ctx).ID, path.ID)
	})
}
