package lingible

import (
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// PageParams are the parameters of a list.
type PageParams struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many to return at most. A page may have fewer and still be continued."`
	Cursor string `query:"cursor" doc:"The next_cursor of the page before."`
}

// TranslationParams name a translation.
type TranslationParams struct {
	ID string `path:"id" strict:"uuid" doc:"The translation's id." example:"019d0000-0000-7000-8000-000000000000"`
}

// SubmissionParams name a submission.
type SubmissionParams struct {
	ID string `path:"submission_id" strict:"uuid" doc:"The submission's id." example:"550e8400-e29b-41d4-a716-446655440000"`
}

// TrendParams narrow the list of trends.
type TrendParams struct {
	Limit      int           `query:"limit" minimum:"1" maximum:"100" default:"10" doc:"How many to return at most. Users of the free tier get 10 at most."`
	Category   TrendCategory `query:"category" enum:",slang,phrase,expression,meme,hashtag" doc:"Only trends of this category. By default users of the free tier get slang, and premium users all."`
	ActiveOnly bool          `query:"active_only" default:"true" doc:"false: also terms that are not in use."`
}

// QuestionParams narrow the questions of a quiz.
type QuestionParams struct {
	Difficulty Difficulty `query:"difficulty" enum:",beginner,intermediate,advanced" doc:"Only terms of this difficulty; all by default."`
	Category   Category   `query:"category" enum:",praise,criticism,feelings,people,talk,effort,money,food,outings" doc:"Only terms of this category; all by default."`
}

// QuizParams name a quiz.
type QuizParams struct {
	SessionID string `query:"session_id" required:"true" minLength:"1" maxLength:"36" doc:"The quiz." example:"2f1c6a52-8a44-4b0e-9a63-4d1f7d2f0c11"`
}

// AccountDeletion confirms the deletion of an account.
type AccountDeletion struct {
	Confirmation string `json:"confirmation" enum:"DELETE"`
}

// AccountStatus says what becomes of an account.
type AccountStatus struct {
	Status UserStatus `json:"status" enum:"deleting"`
}

// TrendList has trends.
type TrendList struct {
	Trends []Trend `json:"trends" nullable:"false" doc:"The most popular first."`
}

// QuizSelection answers a question. The server measures the time.
type QuizSelection struct {
	SessionID  string `json:"session_id" minLength:"1" maxLength:"36" doc:"The quiz." example:"2f1c6a52-8a44-4b0e-9a63-4d1f7d2f0c11"`
	QuestionID string `json:"question_id" minLength:"1" maxLength:"36" doc:"The question that was asked last." example:"7d0e4a0c-5a0a-4c58-8f5e-0c7a3f6b9d21"`
	Selected   string `json:"selected_option" enum:"a,b,c,d" doc:"The option_id of an option."`
}

// QuizID names a quiz.
type QuizID struct {
	SessionID string `json:"session_id" minLength:"1" maxLength:"36" doc:"The quiz." example:"2f1c6a52-8a44-4b0e-9a63-4d1f7d2f0c11"`
}

// errQuery is an example of the errors of operations whose query has parameters.
var errQuery = validate.Errorf("limit", validate.RuleRange, "expected number <= 100; got 101")

// The operations on translations.
var (
	Translate = schema.Operation[schema.None, TranslationInput, ChargedTranslation]{
		ID: "translate", Route: "POST /translate", Function: "lingibleapi", Caller: schema.CallerUser,
		RateLimit: "translate",
		Summary:   "Translate slang into standard English, or back",
		Detail: "Translates a text, charges the translation, and keeps it for 30 days for a premium user. A " +
			"translation that fails, or is the text itself, is not charged.",
		Key: schema.KeyOptional, ReachesOut: true,
		Errors: []error{&UsageError{What: "translations a day", Limit: 10,
			Until: time.Date(2026, 2, 3, 6, 0, 0, 0, time.UTC)}, &model.Error{}},
	}
	ListTranslations = schema.Operation[PageParams, schema.None, TranslationList]{
		ID: "listTranslations", Route: "GET /translations", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "List one's translations, newest first",
		Detail:  "Returns a page of the caller's translations of the last 30 days. It is for premium users.",
		Errors:  []error{errQuery, &SubscriptionError{What: "the history of translations"}},
	}
	DeleteTranslations = schema.Operation[schema.None, schema.None, schema.None]{
		ID: "deleteTranslations", Route: "DELETE /translations", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "Delete all of one's translations",
		Detail: "Deletes all translations of the caller. If there are more than there is time for, the answer is " +
			"503, and a repeat goes on.",
		NoWorkTime: true,
	}
	DeleteTranslation = schema.Operation[TranslationParams, schema.None, schema.None]{
		ID: "deleteTranslation", Route: "DELETE /translations/{id}", Function: "lingibleapi",
		Caller:  schema.CallerUser,
		Summary: "Delete a translation",
		Detail:  "Deletes a translation of the caller.",
		Errors:  []error{ErrTranslationNotFound},
	}
)

// The operations on the caller's account.
var (
	ReadUser = schema.Operation[schema.None, schema.None, User]{
		ID: "readUser", Route: "GET /user/profile", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "Read one's profile",
		Detail:  "Returns the caller's profile.",
	}
	ReadUsage = schema.Operation[schema.None, schema.None, Balance]{
		ID: "readUsage", Route: "GET /user/usage", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "Read what one has left today",
		Detail:  "Returns what the caller's tier allows, and what is left of it.",
	}
	UpgradeUser = schema.Operation[schema.None, schema.None, User]{
		ID: "upgradeUser", Route: "POST /user/upgrade", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "Become a premium user",
		Detail:  "Makes the caller a premium user. What is used today stays used. A premium user stays one.",
	}
	DeleteUser = schema.Operation[schema.None, AccountDeletion, AccountStatus]{
		ID: "deleteUser", Route: "DELETE /user/account", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "Delete one's account and everything of it",
		Detail: "Deletes the caller's account. From then on it can do nothing, and everything of it is removed " +
			"within minutes, in the background: translations, submissions, votes, quizzes and the profile. Approved " +
			"terms stay in the lexicon, which names no user. A repeat has the same answer.",
		Status: http.StatusAccepted,
	}
)

// decidedErrors are examples of the errors of decisions on submissions.
var decidedErrors = []error{ErrSubmissionNotFound,
	&DecidedError{Status: AdminRejected, At: time.Date(2026, 2, 2, 9, 45, 0, 0, time.UTC)}}

// The operations on submissions.
var (
	SubmitTerm = schema.Operation[schema.None, Proposal, Submission]{
		ID: "submitTerm", Route: "POST /slang/submit", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "Submit a term for the lexicon",
		Detail: "Stores a term that a premium user proposes for the lexicon, up to ten in 24 hours. It is validated " +
			"within a moment: then it is approved, rejected, or open to votes.",
		Status: http.StatusCreated, Key: schema.KeyOptional,
		Errors: []error{
			&SubscriptionError{What: "submitting terms"},
			&UsageError{What: "submissions in 24 hours", Limit: 10},
			ErrTermKnown, ErrAlreadySubmitted,
		},
	}
	ListOwnSubmissions = schema.Operation[PageParams, schema.None, SubmissionList]{
		ID: "listOwnSubmissions", Route: "GET /slang/mine", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "List one's submissions, newest first",
		Detail:  "Returns a page of the caller's submissions. A new one is in the list within a moment.",
		Errors:  []error{errQuery},
	}
	ListOpenSubmissions = schema.Operation[PageParams, schema.None, SubmissionList]{
		ID: "listOpenSubmissions", Route: "GET /slang/pending", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "List the submissions to vote on, oldest first",
		Detail:  "Returns a page of the submissions that are open to votes.",
		Errors:  []error{errQuery},
	}
	VoteForSubmission = schema.Operation[SubmissionParams, schema.None, Vote]{
		ID: "voteForSubmission", Route: "POST /slang/upvote/{submission_id}", Function: "lingibleapi",
		Caller:  schema.CallerUser,
		Summary: "Vote for a submission",
		Detail: "Counts the caller's vote, once. The last vote that a submission needs approves it, and its term is " +
			"in the lexicon at once; later votes count, too.",
		Errors: []error{ErrSubmissionNotFound, ErrOwnSubmission, ErrNotOpen, ErrAlreadyVoted},
	}
	ApproveSubmission = schema.Operation[SubmissionParams, schema.None, Submission]{
		ID: "approveSubmission", Route: "POST /slang/admin/approve/{submission_id}", Function: "lingibleapi",
		Caller:  CallerAdmin,
		Summary: "Approve a submission",
		Detail:  "Approves a submission that is pending or open to votes. Its term is in the lexicon at once.",
		Errors:  decidedErrors,
	}
	RejectSubmission = schema.Operation[SubmissionParams, schema.None, Submission]{
		ID: "rejectSubmission", Route: "POST /slang/admin/reject/{submission_id}", Function: "lingibleapi",
		Caller:  CallerAdmin,
		Summary: "Reject a submission",
		Detail:  "Rejects a submission that is pending or open to votes. It is kept for 90 days.",
		Errors:  decidedErrors,
	}
	ListTrends = schema.Operation[TrendParams, schema.None, TrendList]{
		ID: "listTrends", Route: "GET /trending", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "List trending terms, most popular first",
		Detail:  "Returns the terms that are in use, as of the last daily run. New terms have a score of 0 until then.",
		Errors:  []error{errQuery, &SubscriptionError{What: "the category meme of trends"}},
	}
)

// The operations of the quiz.
var (
	AskQuestion = schema.Operation[QuestionParams, schema.None, QuizQuestion]{
		ID: "askQuestion", Route: "GET /quiz/question", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "Get the next question of the quiz",
		Detail: "Returns the next question of the caller's quiz, and begins a quiz if none is active. A quiz is " +
			"active until it is ended, or for 15 minutes after its last question or answer, and asks about no term " +
			"twice. A question without an answer is returned again as it is, also to a request for another " +
			"difficulty or category. Users of the free tier are asked 10 questions a day.",
		Errors: []error{errQuery, ErrNoQuestion, &UsageError{What: "questions of the quiz a day", Limit: 10}},
	}
	AnswerQuestion = schema.Operation[schema.None, QuizSelection, QuizAnswer]{
		ID: "answerQuestion", Route: "POST /quiz/answer", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "Answer the question",
		Detail: "Answers the question that was asked last. A right answer earns 10 points at once, less by 0.3 with " +
			"each second since the question was asked first, and 1 from 30 seconds on. A repeat has the same answer, " +
			"and counts nothing.",
		Errors: []error{ErrNoQuiz, ErrNoSuchQuestion, ErrAnswered},
	}
	ReadQuiz = schema.Operation[QuizParams, schema.None, QuizProgress]{
		ID: "readQuiz", Route: "GET /quiz/progress", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "Read how a quiz stands",
		Detail:  "Returns how a quiz stands, until 48 hours after its last question or answer.",
		Errors:  []error{errQuery, ErrNoQuiz},
	}
	EndQuiz = schema.Operation[schema.None, QuizID, QuizProgress]{
		ID: "endQuiz", Route: "POST /quiz/end", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "End a quiz",
		Detail:  "Ends a quiz, and returns how it stands. One that has ended stays as it is.",
		Errors:  []error{ErrNoQuiz},
	}
	ReadQuizHistory = schema.Operation[schema.None, schema.None, QuizHistory]{
		ID: "readQuizHistory", Route: "GET /quiz/history", Function: "lingibleapi", Caller: schema.CallerUser,
		Summary: "Read one's quizzes by day, newest first",
		Detail:  "Returns the caller's days with questions, and how many questions are left today.",
	}
)

// The operations that say what the API is.
var (
	ReadDocument = schema.DocumentOperation("GET /openapi.json", "lingibleapi",
		"Returns the description of all routes.")
	ReadHealth = schema.HealthOperation("GET /health", "lingibleapi", "Answers while the API is up.")
)

// Operations are all operations, in the order of their routes.
func Operations() []schema.Described {
	return []schema.Described{Translate, ListTranslations, DeleteTranslations, DeleteTranslation, ReadUser, ReadUsage,
		UpgradeUser, DeleteUser, SubmitTerm, ListOwnSubmissions, ListOpenSubmissions, VoteForSubmission,
		ApproveSubmission, RejectSubmission, ListTrends, AskQuestion, AnswerQuestion, ReadQuiz, EndQuiz,
		ReadQuizHistory, ReadDocument, ReadHealth}
}
