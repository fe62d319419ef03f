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
			schema.String.Attribute("PK", termKey),
			schema.String.Attribute("SK", "Sort key: SUBMISSION# and submission_id"),
		}, schema.AttributesOf(Submission{}), []schema.Attribute{
			schema.Number.Attribute("ttl", "End of a rejected submission "+unixSeconds),
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
		schema.String.Attribute("source", "The first of sources"))
	entry = schema.After(entry, "plain",
		schema.List.Attribute("variants", "Other spellings and names"))
	entry = schema.After(entry, "is_quiz_eligible", schema.String.Attribute("quiz_difficulty",
		"beginner, intermediate or advanced, by quiz_score; absent unless the quiz asks about it"))
	entry = schema.After(entry, "quiz_category", schema.Number.Attribute("quiz_score",
		"confidence × momentum; absent unless the quiz asks about it"))
	return schema.Table{
		Name:         lexiconName,
		PhysicalName: "lexicon",
		Description:  "Terms of the lexicon, the wrong answers of the quiz, and what was exported.",
		Key:          tableKey,
		Stream:       schema.StreamKeysOnly,
		Attributes: slices.Concat([]schema.Attribute{
			schema.String.Attribute("PK", termKey+"; WRONG_ANSWERS# and a category; EXPORT"),
			schema.String.Attribute("SK", "Sort key: METADATA#lexicon, METADATA#wrong_answers or METADATA#export"),
		}, entry, []schema.Attribute{
			schema.String.Attribute("last_updated", moment),
			schema.List.Attribute("wrong_answers",
				"WRONG_ANSWERS#: meanings that are right for no term of the category"),
			schema.String.Attribute("exported_at", "EXPORT: when the latest export was made: "+moment),
			schema.String.Attribute("index_key",
				"EXPORT: key of the object with the index of the latest export; absent of one of an earlier version"),
			schema.String.Attribute("digest", "EXPORT: SHA-256 of the latest export, hexadecimal"),
			schema.String.Attribute("claim",
				"EXPORT: random token of the export that is being made; absent when none is"),
			schema.String.Attribute("claimed_until", "EXPORT: until when that may be: "+moment),
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
			schema.String.Attribute("PK", termKey),
			schema.String.Attribute("SK", "Sort key: METADATA#trending"),
			schema.String.Attribute("term", "The term"),
			schema.String.Attribute("definition", "What it means"),
			schema.String.Attribute("category", "slang, phrase, expression, meme or hashtag"),
			schema.Number.Attribute("popularity_score",
				"0 to 100, as of the last run of the trending job where a list shows it, and else of an earlier one; "+
					"0 before the first"),
			schema.Number.Attribute("search_count", "Look-ups: translations whose text is the term alone"),
			schema.Number.Attribute("translation_count", "Other translations with the term"),
			schema.String.Attribute("first_seen", moment),
			schema.String.Attribute("last_updated",
				"Last run of the trending job that counted uses or stored a score, or creation: "+moment),
			schema.String.Attribute("is_active", "\"true\" or \"false\": whether the term is in use"),
			schema.String.Attribute("example_usage", "A sentence with it"),
			schema.String.Attribute("origin", "Where it is from; absent when unknown"),
			schema.List.Attribute("related_terms", "Terms like it"),
			schema.Number.Attribute("heat", "Uses; a use counts half after a week. popularity_score follows from it"),
			schema.Number.Attribute("counted_uses", "Uses that heat has in it"),
			schema.Number.Attribute("ttl", "90 days after the last use or proposal, "+unixSeconds),
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
			schema.String.Attribute("PK", "Partition key: USER# and the subject of the user's token; DELETED# and "+
				"its SHA-256; RATE# and a counter"),
			schema.String.Attribute("SK", "Sort key: PROFILE, USAGE#LIMITS, QUIZ_DAILY#YYYY-MM-DD, "+
				"QUIZ_SESSION#id, VOTE#submission, SUBMITTED#slug, KEY#digest; METADATA of other partition keys"),
		}, schema.AttributesOf(User{}, Usage{}, QuizTotals{}, QuizSession{}), []schema.Attribute{
			schema.String.Attribute("submission_id",
				"VOTE: the submission; SUBMITTED: the user's submission of the term"),
			schema.String.Attribute("term_key", "VOTE and SUBMITTED: partition key of the submission"),
			schema.String.Attribute("deleted_at", "DELETED: when the account was deleted: "+moment),
			schema.Number.Attribute("ttl", "End of use of every item but PROFILE, USAGE#LIMITS and VOTE, "+
				unixSeconds),
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
			schema.String.Attribute("PK", "Partition key: USER# and the subject of the user's token"),
			schema.String.Attribute("SK", "Sort key: TRANSLATION# and translation_id"),
		}, schema.AttributesOf(Translation{}), []schema.Attribute{
			schema.Number.Attribute("ttl", "30 days after created_at, "+unixSeconds),
		}),
	}
}
