package lingible

import (
	"slices"

	"github.com/onesynth-cdk/onesynth/schema"
)

func accessPatterns() []schema.AccessPattern {
	return schema.UsedBy("lingibleapi", slices.Concat(accountPatterns(), translationPatterns(), submissionPatterns(),
		lexiconPatterns(), trendPatterns(), quizPatterns(), schema.RateLimitPatterns(usersName),
		schema.IdempotencyPatterns(usersName), []schema.AccessPattern{schema.ReadIdempotency(usersName)})...)
}

func accountPatterns() []schema.AccessPattern {
	return []schema.AccessPattern{
		schema.GetItem.Pattern("GetUser", usersName, "A user's profile.").InOrigin("Get user profile").
			UsedBy("lingibleapi", "accountcleaner"),
		schema.GetItem.Pattern("GetUsage", usersName,
			"A user's tier, the translations and submissions that count, and the active quiz.").
			InOrigin("Get usage limits"),
		schema.Transaction("CreateUser", "Create a user.",
			schema.ConditionCheckItem.On(usersName, "no deletion of the user's account after the caller signed in"),
			schema.PutItem.On(usersName, "the profile, unless there is one"),
			schema.PutItem.On(usersName, "the usage, unless there is some"),
			schema.PutItem.On(usersName, "the questions that a deleted account of the user was asked today").
				IfNeeded()).UsedBy("lingibleapi", "profilecreator"),
		schema.Transaction("UpgradeUser", "Change a user's tier, in both items that have it.",
			schema.UpdateItem.On(usersName, "the profile, if it is active and has the tier that was read"),
			schema.UpdateItem.On(usersName, "the usage, if it has the tier that was read")),
		schema.Transaction("BeginAccountDeletion", "Delete a user's usage. From then on nothing can be added.",
			schema.UpdateItem.On(usersName, "the profile: that it is being deleted"),
			schema.DeleteItem.On(usersName, "the usage, if it is as it was read"),
			schema.ConditionCheckItem.On(usersName, "the questions of the day, if they are as they were read"),
			schema.PutItem.On(usersName,
				"when the account was deleted, for 30 days: who signed in before makes no new one. And what "+
					"counts towards the limits")),
		schema.Query.Pattern("ListUserItems", usersName, "All items of a user.").
			By("", schema.Where("PK", schema.Equal)).Consistently().
			Returning("PK", "SK", "submission_id", "term_key").UsedBy("accountcleaner"),
		schema.DeleteItem.Pattern("DeleteUserItem", usersName,
			"Delete one item of a deleted account, or the note of a vote whose submission is gone.").
			UsedBy("accountcleaner"),
		schema.Query.Pattern("ListUsersByTier", usersName,
			"The keys of the users of a tier, those first that changed last. For reports.").
			By("UsersTierIndex", schema.Where("tier", schema.Equal)).Downwards().ForOthers().InOrigin("Query by tier"),
	}
}

func translationPatterns() []schema.AccessPattern {
	return []schema.AccessPattern{
		schema.UpdateItem.Pattern("ChargeTranslation", usersName,
			"Charge a translation that is neither kept nor has an idempotency key, if the tier is as read "+
				"and its limit is not reached."),
		schema.Transaction("StoreTranslation", "Charge a translation, and keep it for premium users.",
			schema.UpdateItem.On(usersName,
				"one more translation, if the tier is as read and its limit is not reached"),
			schema.PutItem.On(translationsName, "the translation").IfNeeded(),
			schema.KeepAnswer(usersName)),
		schema.Query.Pattern("ListTranslations", translationsName, "A user's translations, newest first.").
			By("", schema.Where("PK", schema.Equal), schema.Where("SK", schema.BeginsWith)).Downwards().
			InOrigin("Get user translations"),
		schema.GetItem.Pattern("GetTranslation", translationsName, "A translation. No route reads a single one.").
			ForOthers().InOrigin("Get single translation"),
		schema.Query.Pattern("ListTranslationKeys", translationsName, "The keys of a user's translations.").
			By("", schema.Where("PK", schema.Equal)).Consistently().Returning("PK", "SK").
			UsedBy("lingibleapi", "accountcleaner"),
		schema.DeleteItem.Pattern("DeleteTranslation", translationsName, "Delete a translation.").
			UsedBy("lingibleapi", "accountcleaner"),
	}
}

func submissionPatterns() []schema.AccessPattern {
	return []schema.AccessPattern{
		schema.Transaction("Submit", "Store a submission.",
			schema.PutItem.On(submissionsName, "the submission"),
			schema.PutItem.On(usersName, "that the user has submitted the term, unless within 7 days"),
			schema.UpdateItem.On(usersName, "the times of the user's submissions, if they and the tier are as read"),
			schema.KeepAnswer(usersName)),
		schema.BatchGetItem.Pattern("GetSubmissions", submissionsName,
			"A submission as it is now, or those of a list.").
			Consistently().UsedBy("lingibleapi", "submissionvalidator", "revalidator", "accountcleaner"),
		schema.Query.Pattern("GetSubmissionByID", submissionsName, "A submission by its id.").
			By("SubmissionsByIdIndex", schema.Where("submission_id", schema.Equal)).InOrigin("Get by ID"),
		schema.Query.Pattern("ListSubmissionsByStatus", submissionsName, "Submissions of one status, oldest first.").
			By("SubmissionsStatusIndex", schema.Where("status", schema.Equal)).InOrigin("Query by status"),
		schema.Query.Pattern("ListUserSubmissions", submissionsName, "The keys of a user's submissions, newest first.").
			By("SubmissionsByUserIndex", schema.Where("user_id", schema.Equal)).Downwards().InOrigin("Query by user").
			UsedBy("lingibleapi", "accountcleaner"),
		schema.Query.Pattern("ListByValidationStatus", submissionsName, "Submissions of one status of validation.").
			By("ValidationStatusIndex", schema.Where("llm_validation_status", schema.Equal)).
			InOrigin("Query validation status").UsedBy("revalidator"),
		schema.UpdateItem.Pattern("JudgeSubmission", submissionsName,
			"Store what a validation said that did not approve a submission, if that is as read.").
			UsedBy("submissionvalidator", "revalidator"),
		schema.Transaction("ReviewSubmission", "Approve or reject a submission.",
			schema.UpdateItem.On(submissionsName, "the review, if the submission is as read"),
			schema.PutItem.On(lexiconName, "the term of an approved one, unless the lexicon has it").IfNeeded()).
			UsedBy("lingibleapi", "submissionvalidator", "revalidator"),
		schema.Transaction("Vote", "Count a user's vote for a submission.",
			schema.UpdateItem.On(submissionsName,
				"the vote, and the approval by the last one, if its status is as read and the user has not voted"),
			schema.PutItem.On(lexiconName, "the term of an approved one, unless the lexicon has it").IfNeeded(),
			schema.ConditionCheckItem.On(usersName, "the usage: the user exists and is not being deleted"),
			schema.PutItem.On(usersName, "that the user has voted")),
		schema.UpdateItem.Pattern("WithdrawVote", submissionsName,
			"Take back the vote of a user who has deleted the account.").UsedBy("accountcleaner"),
		schema.DeleteItem.Pattern("DeleteSubmission", submissionsName,
			"Delete a submission of a user who has deleted the account.").UsedBy("accountcleaner"),
	}
}

func lexiconPatterns() []schema.AccessPattern {
	return []schema.AccessPattern{
		schema.GetItem.Pattern("GetEntry", lexiconName, "A term of the lexicon.").InOrigin("Get by term"),
		schema.BatchGetItem.Pattern("GetEntries", lexiconName, "Terms of the lexicon.").Consistently().
			UsedBy("exporter"),
		schema.Query.Pattern("ListEntriesBySource", lexiconName, "The keys of the terms from a source, by term.").
			By("LexiconSourceIndex", schema.Where("source", schema.Equal)).InOrigin("Export by source").
			UsedBy("exporter"),
		schema.Query.Pattern("ListQuizByDifficulty", lexiconName,
			"Terms that the quiz asks about, of one difficulty. The quiz has them in the index of the export.").
			By("LexiconQuizDifficultyIndex", schema.Where("quiz_difficulty", schema.Equal)).ForOthers().
			InOrigin("Quiz by difficulty"),
		schema.Query.Pattern("ListQuizByCategory", lexiconName,
			"Terms that the quiz asks about, of one category and a range of scores. The quiz has them in the "+
				"index of the export.").
			By("LexiconQuizCategoryIndex", schema.Where("quiz_category", schema.Equal),
				schema.Where("quiz_score", schema.Between)).
			ForOthers().InOrigin("Quiz by category"),
		schema.GetItem.Pattern("GetWrongAnswers", lexiconName, "The wrong answers for a category."),
		schema.PutItem.Pattern("AddEntry", lexiconName,
			"Store a term, or the wrong answers for a category, unless they are there.").UsedBy("lexiconseeder"),
		schema.GetItem.Pattern("GetExport", lexiconName, "When the lexicon was last exported, and its digest.").
			UsedBy("lingibleapi", "submissionvalidator", "revalidator", "exporter", "trendingjob"),
		schema.UpdateItem.Pattern("ClaimExport", lexiconName,
			"Claim the export for one try, unless another one is running.").UsedBy("exporter"),
		schema.UpdateItem.Pattern("SettleExport", lexiconName, "End a try to export, if the claim is still its own.").
			UsedBy("exporter"),
	}
}

func trendPatterns() []schema.AccessPattern {
	return []schema.AccessPattern{
		schema.UpdateItem.Pattern("CountTerm", trendingName,
			"Count a use of a term, or take it back if its translation is not charged."),
		schema.Query.Pattern("ListTrending", trendingName, "Terms that are in use, or are not, most popular first.").
			By("TrendingActiveIndex", schema.Where("is_active", schema.Equal)).Downwards().InOrigin("Global trending").
			UsedBy("lingibleapi", "trendingjob"),
		schema.Query.Pattern("ListTrendingByCategory", trendingName, "Terms of a category, most popular first.").
			By("TrendingCategoryIndex", schema.Where("category", schema.Equal)).Downwards().Filtering("is_active").
			InOrigin("Category trending"),
		schema.BatchGetItem.Pattern("GetTrends", trendingName, "Trending terms with their counts.").Consistently().
			UsedBy("trendingjob"),
		schema.UpdateItem.Pattern("ScoreTrend", trendingName,
			"Store the score of a term, if no other run has scored it meanwhile.").UsedBy("trendingjob"),
	}
}

func quizPatterns() []schema.AccessPattern {
	return []schema.AccessPattern{
		schema.GetItem.Pattern("GetQuizSession", usersName, "A quiz.").InOrigin("Get quiz session"),
		schema.Query.Pattern("GetLatestQuizSession", usersName, "The quiz of a user that was begun last.").
			By("", schema.Where("PK", schema.Equal), schema.Where("SK", schema.BeginsWith)).Downwards().
			Consistently(),
		schema.Transaction("AskQuestion", "Ask the next question of a quiz.",
			schema.UpdateItem.On(usersName, "the usage: the active quiz, if the tier and the active quiz are as read"),
			schema.UpdateItem.On(usersName, "one more question of the day, if the limit is not reached"),
			schema.PutItem.On(usersName, "the quiz, if it is as it was read")),
		schema.Transaction("AnswerQuestion", "Answer the question of a quiz.",
			schema.PutItem.On(usersName, "the quiz, if it is as it was read"),
			schema.UpdateItem.On(usersName, "answer and points of the day")),
		schema.Transaction("EndQuiz", "End a quiz.",
			schema.PutItem.On(usersName, "the quiz, if it is as it was read"),
			schema.UpdateItem.On(usersName, "the usage: no active quiz, if it is this one").IfNeeded()),
		schema.Query.Pattern("ListQuizDays", usersName, "The days on which a user was asked, newest first.").
			By("", schema.Where("PK", schema.Equal), schema.Where("SK", schema.BeginsWith)).Downwards(),
	}
}
