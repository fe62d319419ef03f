package lingible

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

func functions() []schema.Function {
	lexicon := []schema.Objects{{Bucket: "Exports", Prefix: "lexicon/"}}
	return []schema.Function{
		{
			Name:        "lingibleapi",
			ID:          "LingibleAPI",
			Description: "Serves the routes of translations, users, submissions, trends and the quiz",
			Timeout:     15 * time.Second,
			Secrets:     []string{"CursorSecret"},
			Gets:        lexicon,
			CallsModel:  true,
		},
		{
			Name:        "profilecreator",
			ID:          "ProfileCreator",
			Description: "Creates the profile of a user whose sign-up is confirmed",
			Timeout:     4 * time.Second, // Amazon Cognito waits 5
			Trigger:     schema.OnSignUp{},
		},
		{
			Name:        "submissionvalidator",
			ID:          "SubmissionValidator",
			Description: "Validates new submissions",
			Timeout:     time.Minute,
			Gets:        lexicon,
			CallsModel:  true,
			Trigger:     newSubmissions(),
		},
		{
			Name:        "revalidator",
			Description: "Validates the submissions whose validation failed or died",
			// A run ends before the next one begins.
			Timeout:    4*time.Minute + 50*time.Second,
			Gets:       lexicon,
			CallsModel: true,
			Trigger: schema.OnSchedule{
				Every:    5 * time.Minute,
				Failures: schema.Failures{Description: "runs of the revalidator"},
			},
		},
		{
			Name:        "exporter",
			Description: "Exports the lexicon when it has changed",
			Timeout:     time.Minute,
			Puts:        lexicon,
			Gets:        lexicon,
			Trigger:     changedTerms(),
		},
		{
			Name:        "trendingjob",
			ID:          "TrendingJob",
			Description: "Scores the trending terms",
			Timeout:     2 * time.Minute,
			Gets:        lexicon,
			CallsModel:  true,
			Trigger: schema.OnSchedule{
				Cron:     "0 6 * * ? *",
				Failures: schema.Failures{Description: "runs of the trending job"},
			},
		},
		{
			Name:        "accountcleaner",
			ID:          "AccountCleaner",
			Description: "Removes everything of users who have deleted their accounts",
			Timeout:     5 * time.Minute,
			Trigger:     deletedAccounts(),
		},
		{
			Name:        "lexiconseeder",
			ID:          "LexiconSeeder",
			Description: "Loads the terms and the wrong answers of the quiz",
			Timeout:     time.Minute,
			Trigger:     schema.OnSeed{},
		},
	}
}

// newSubmissions are those that are not validated.
func newSubmissions() schema.OnStream {
	return schema.OnStream{
		Table: submissionsName, Changes: "new submissions",
		Filters: []map[string]any{{
			"eventName": []any{"INSERT"},
			"dynamodb": map[string]any{"NewImage": map[string]any{
				"llm_validation_status": map[string]any{"S": []any{"pending"}}}},
		}},
		BatchSize: 5, ReportItemFailures: true,
		Failures: schema.Failures{Description: "new submissions that could not be read; the revalidator " +
			"validates them"},
	}
}

// changedTerms are changes of terms of the lexicon.
func changedTerms() schema.OnStream {
	return schema.OnStream{
		Table: lexiconName, Changes: "changes of terms",
		Filters: []map[string]any{{"dynamodb": map[string]any{
			"Keys": map[string]any{"SK": map[string]any{"S": []any{"METADATA#lexicon"}}}}}},
		BatchSize: 1000, BatchWindow: 2 * time.Second, ReportItemFailures: true,
		Failures: schema.Failures{Description: "changes of terms that no export has"},
	}
}

// deletedAccounts are users whose accounts are being deleted.
func deletedAccounts() schema.OnStream {
	return schema.OnStream{
		Table: usersName, Changes: "deletions of accounts",
		Filters: []map[string]any{{"dynamodb": map[string]any{"NewImage": map[string]any{
			"SK":     map[string]any{"S": []any{"PROFILE"}},
			"status": map[string]any{"S": []any{"deleting"}},
		}}}},
		// The requests that began before the deletion have ended then.
		BatchSize: 10, After: "lingibleapi", BatchWindow: 2 * time.Second, ReportItemFailures: true,
		Failures: schema.Failures{Description: "deletions of accounts that could not be finished"},
	}
}

func metrics() []schema.Metric {
	count := func(function, name, description string) schema.Metric {
		return schema.Metric{Name: name, Function: function, Unit: schema.Count, Description: description}
	}
	later := count("revalidator", "LanguageFailures",
		"later validations that failed: for those the second time at least")
	later.AlarmAt = 1
	return []schema.Metric{
		count("lingibleapi", "Translations", "translations charged; a repeat with the same idempotency key is none"),
		count("lingibleapi", "LanguageFailures", "translations that failed; no one is charged"),
		count("lingibleapi", "TermsNotCounted",
			"terms of translations whose counts of trends are wrong by a use, because the table did not take them"),
		count("lingibleapi", "Submissions", "terms submitted"),
		count("lingibleapi", "Approvals", "submissions approved by votes or an administrator"),
		count("lingibleapi", "QuizAnswers", "questions of the quiz answered; a repeat is none"),
		count("submissionvalidator", "Approvals", "submissions approved by their validation"),
		count("submissionvalidator", "LanguageFailures", "validations that failed; the revalidator tries again"),
		count("revalidator", "Approvals", "submissions approved by a later validation"),
		later,
		count("exporter", "TermsExported", "terms of each export"),
		count("trendingjob", "TrendsScored", "trending terms scored"),
		count("trendingjob", "LanguageFailures", "runs without proposals from the model; the counts are scored"),
		count("accountcleaner", "AccountsCleaned", "deletions of accounts finished"),
	}
}
