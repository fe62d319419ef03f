package lingible

import (
	"slices"

	"github.com/onesynth-cdk/onesynth/schema"
)

// tableKey is the primary key of all tables.
var tableKey = schema.Key{Partition: "PK", Sort: "SK"}

const (
	moment      = "RFC 3339 in UTC with milliseconds"
	termKey     = "Partition key: TERM# and the slug of the term"
	unixSeconds = "in Unix seconds (TTL attribute)"
	categories  = "praise, criticism, feelings, people, talk, effort, money, food or outings"
)

// The names of the tables.
const (
	submissionsName  = "Submissions"
	lexiconName      = "Lexicon"
	trendingName     = "Trending"
	usersName        = "Users"
	translationsName = "Translations"
)

func submissionsTable() schema.Table {
	return schema.Table{
		Name:         submissionsName,
		PhysicalName: "submissions",
		Description:  "Terms that users have submitted, with their votes and reviews.",
		Key:          tableKey,
		TimeToLive:   "ttl",
		Stream:       schema.StreamNewImage,
		Attributes: slices.Concat([]schema.Attribute{
			{Name: "PK", Type: schema.String, Description: termKey},
			{Name: "SK", Type: schema.String, Description: "Sort key: SUBMISSION# and submission_id"},
		}, schema.AttributesOf(Submission{}), []schema.Attribute{
			{Name: "ttl", Type: schema.Number, Description: "End of a rejected submission " + unixSeconds},
		}),
		Indexes: []schema.Index{
			{Name: "SubmissionsStatusIndex", Key: schema.Key{Partition: "status", Sort: "created_at"},
				Projection: schema.ProjectInclude, Include: []string{"submission_id", "user_id", "slang_term",
					"context"}, Description: "Moderation queues and voting flows."},
			{Name: "SubmissionsByUserIndex", Key: schema.Key{Partition: "user_id", Sort: "created_at"},
				Projection: schema.ProjectKeysOnly, Description: "User submission history."},
			{Name: "SubmissionsByIdIndex", Key: schema.Key{Partition: "submission_id"},
				Description: "Direct lookup by submission ID."},
			{Name: "ValidationStatusIndex", Key: schema.Key{Partition: "llm_validation_status"},
				Projection: schema.ProjectInclude, Include: []string{"submission_id", "user_id", "slang_term"},
				Description: "Async validation processor. In no order."},
		},
	}
}

func lexiconTable() schema.Table {
	quiz := []string{"term", "gloss", "examples", "tags"}
	entry := schema.AttributesOf(Entry{})
	entry = schema.After(entry, "term",
		schema.Attribute{Name: "source", Type: schema.String, Description: "The first of sources"})
	entry = schema.After(entry, "plain",
		schema.Attribute{Name: "variants", Type: schema.List, Description: "Other spellings and names"})
	entry = schema.After(entry, "is_quiz_eligible", schema.Attribute{
		Name: "quiz_difficulty", Type: schema.String,
		Description: "beginner, intermediate or advanced, by quiz_score; absent unless the quiz asks about it",
	})
	entry = schema.After(entry, "quiz_category", schema.Attribute{
		Name: "quiz_score", Type: schema.Number,
		Description: "confidence × momentum; absent unless the quiz asks about it",
	})
	return schema.Table{
		Name:         lexiconName,
		PhysicalName: "lexicon",
		Description:  "Terms of the lexicon, the wrong answers of the quiz, and what was exported.",
		Key:          tableKey,
		Stream:       schema.StreamKeysOnly,
		Attributes: slices.Concat([]schema.Attribute{
			{Name: "PK", Type: schema.String, Description: termKey + "; WRONG_ANSWERS# and a category; EXPORT"},
			{
				Name: "SK", Type: schema.String,
				Description: "Sort key: METADATA#lexicon, METADATA#wrong_answers or METADATA#export",
			},
		}, entry, []schema.Attribute{
			{Name: "last_updated", Type: schema.String, Description: moment},
			{
				Name: "wrong_answers", Type: schema.List,
				Description: "WRONG_ANSWERS#: meanings that are right for no term of the category",
			},
			{
				Name: "exported_at", Type: schema.String,
				Description: "EXPORT: when the latest export was made: " + moment,
			},
			{
				Name: "index_key", Type: schema.String,
				Description: "EXPORT: key of the object with the index of the latest export; absent of one of an " +
					"earlier version",
			},
			{Name: "digest", Type: schema.String, Description: "EXPORT: SHA-256 of the latest export, hexadecimal"},
			{
				Name: "claim", Type: schema.String,
				Description: "EXPORT: random token of the export that is being made; absent when none is",
			},
			{Name: "claimed_until", Type: schema.String, Description: "EXPORT: until when that may be: " + moment},
		}),
		Indexes: []schema.Index{
			{Name: "LexiconSourceIndex", Key: schema.Key{Partition: "source", Sort: "term"},
				Projection: schema.ProjectKeysOnly, Description: "Bulk exports and import verification."},
			{Name: "LexiconQuizDifficultyIndex", Key: schema.Key{Partition: "quiz_difficulty", Sort: "quiz_score"},
				Projection: schema.ProjectInclude, Include: quiz,
				Description: "Quiz generation by difficulty. Sparse: only terms that the quiz asks about."},
			{Name: "LexiconQuizCategoryIndex", Key: schema.Key{Partition: "quiz_category", Sort: "quiz_score"},
				Projection: schema.ProjectInclude, Include: quiz,
				Description: "Category-specific quizzes. Sparse: only terms that the quiz asks about."},
		},
	}
}

func trendingTable() schema.Table {
	return schema.Table{
		Name:         trendingName,
		PhysicalName: "trending",
		Description:  "How much terms are used.",
		Key:          tableKey,
		TimeToLive:   "ttl",
		Attributes: []schema.Attribute{
			{Name: "PK", Type: schema.String, Description: termKey},
			{Name: "SK", Type: schema.String, Description: "Sort key: METADATA#trending"},
			{Name: "term", Type: schema.String, Description: "The term"},
			{Name: "definition", Type: schema.String, Description: "What it means"},
			{Name: "category", Type: schema.String, Description: "slang, phrase, expression, meme or hashtag"},
			{
				Name: "popularity_score", Type: schema.Number,
				Description: "0 to 100, as of the last run of the trending job; 0 before the first",
			},
			{
				Name: "search_count", Type: schema.Number,
				Description: "Look-ups: translations whose text is the term alone",
			},
			{Name: "translation_count", Type: schema.Number, Description: "Other translations with the term"},
			{Name: "first_seen", Type: schema.String, Description: moment},
			{
				Name: "last_updated", Type: schema.String,
				Description: "Last run of the trending job, or creation: " + moment,
			},
			{Name: "is_active", Type: schema.String, Description: "\"true\" or \"false\": whether the term is in use"},
			{Name: "example_usage", Type: schema.String, Description: "A sentence with it"},
			{Name: "origin", Type: schema.String, Description: "Where it is from; absent when unknown"},
			{Name: "related_terms", Type: schema.List, Description: "Terms like it"},
			{
				Name: "heat", Type: schema.Number,
				Description: "Uses; a use counts half after a week. popularity_score follows from it",
			},
			{Name: "counted_uses", Type: schema.Number, Description: "Uses that heat has in it"},
			{Name: "ttl", Type: schema.Number, Description: "90 days after the last use or proposal, " + unixSeconds},
		},
		Indexes: []schema.Index{
			{Name: "TrendingActiveIndex", Key: schema.Key{Partition: "is_active", Sort: "popularity_score"},
				Projection: schema.ProjectInclude, Include: []string{"term", "category", "definition"},
				Description: "Global top-N trending lists."},
			{Name: "TrendingCategoryIndex", Key: schema.Key{Partition: "category", Sort: "popularity_score"},
				Projection: schema.ProjectInclude, Include: []string{"term", "definition", "is_active"},
				Description: "Category-specific trending queries."},
		},
	}
}

func usersTable() schema.Table {
	return schema.Table{
		Name:         usersName,
		PhysicalName: "users",
		Description:  "Profiles, usage and quizzes of users, and the short-lived items that guard these.",
		Key:          tableKey,
		TimeToLive:   "ttl",
		Stream:       schema.StreamNewImage,
		Attributes: slices.Concat([]schema.Attribute{
			{
				Name: "PK", Type: schema.String,
				Description: "Partition key: USER# and the subject of the user's token; DELETED# and its SHA-256; " +
					"RATE# and a counter",
			},
			{
				Name: "SK", Type: schema.String,
				Description: "Sort key: PROFILE, USAGE#LIMITS, QUIZ_DAILY#YYYY-MM-DD, QUIZ_SESSION#id, " +
					"VOTE#submission, SUBMITTED#slug, KEY#digest; METADATA of other partition keys",
			},
		}, schema.AttributesOf(User{}, Usage{}, QuizTotals{}, QuizSession{}), []schema.Attribute{
			{
				Name: "submission_id", Type: schema.String,
				Description: "VOTE: the submission; SUBMITTED: the user's submission of the term",
			},
			{Name: "term_key", Type: schema.String, Description: "VOTE and SUBMITTED: partition key of the submission"},
			{Name: "deleted_at", Type: schema.String, Description: "DELETED: when the account was deleted: " + moment},
			{
				Name: "ttl", Type: schema.Number,
				Description: "End of use of every item but PROFILE, USAGE#LIMITS and VOTE, " + unixSeconds,
			},
		}, schema.RateLimitAttributes(), schema.IdempotencyAttributes()),
		Indexes: []schema.Index{
			{Name: "UsersTierIndex", Key: schema.Key{Partition: "tier", Sort: "updated_at"},
				Projection: schema.ProjectKeysOnly, Description: "Admin reports by subscription tier. Sparse: only " +
					"profiles."},
		},
	}
}

func translationsTable() schema.Table {
	return schema.Table{
		Name:         translationsName,
		PhysicalName: "translations",
		Description:  "Translations of premium users, for 30 days.",
		Key:          tableKey,
		TimeToLive:   "ttl",
		Attributes: slices.Concat([]schema.Attribute{
			{Name: "PK", Type: schema.String, Description: "Partition key: USER# and the subject of the user's token"},
			{Name: "SK", Type: schema.String, Description: "Sort key: TRANSLATION# and translation_id"},
		}, schema.AttributesOf(Translation{}), []schema.Attribute{
			{Name: "ttl", Type: schema.Number, Description: "30 days after created_at, " + unixSeconds},
		}),
	}
}
