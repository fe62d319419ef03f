package askahuman

import (
	"slices"

	"github.com/onesynth-cdk/onesynth/schema"
)

func accessPatterns() []schema.AccessPattern {
	return slices.Concat(
		reads(), writes(), subscriptions(), notifications(), ownDataPatterns(),
		schema.RateLimitPatterns("Guards", "agentapi", "humanapi"), schema.IdempotencyPatterns("Guards", "agentapi"))
}

// reads are what agents and people read.
func reads() []schema.AccessPattern {
	return schema.UsedBy("humanapi",
		schema.GetItem.Pattern("GetQuestion", "Questions", "A question as it is now.").InOrigin("Get question by ID").
			UsedBy("agentapi", "humanapi"),
		schema.Query.Pattern("ListOpenQuestions", "Questions",
			"Questions of one status and shard, newest first; the feed merges OPEN and PARTIAL by creation.").
			By("ByStatus", schema.Where("status", schema.Equal), schema.Where("created_at", schema.LessOrEqual)).
			Downwards().Filtering("deadline").
			Returning("question_id", "prompt", "type", "options", "audience",
				"required_responses", "current_responses", "created_at", "deadline").
			InOrigin("List open questions"),
		schema.Query.Pattern("ListAgentQuestions", "Questions", "An agent's own questions, newest first.").
			By("ByAgentId", schema.Where("agent_id", schema.Equal)).Downwards().
			Filtering("status", "deadline", "expires_at").InOrigin("Agent's questions").UsedBy("agentapi"),
		schema.GetItem.Pattern("GetOpenQuestionIDs", "Guards",
			"Which questions of an agent take answers, and whether it is blocked.").UsedBy("agentapi"),
		schema.BatchGetItem.Pattern("GetAgentQuestions", "Questions",
			"An agent's own questions that take answers, by their ids.").UsedBy("agentapi"),
		schema.Query.Pattern("ListResponses", "Responses", "All answers to a question.").
			By("", schema.Where("question_id", schema.Equal)).Consistently().
			Returning("response_id", "answer", "selected_option", "confidence", "created_at", "flags").
			InOrigin("Get responses for question").UsedBy("agentapi"),
		schema.Query.Pattern("ListRecentAnswers", "Responses",
			"What a person answered since a moment, newest first: to leave it out of the feed, to flag "+
				"repetition, and to list it to the person.").
			By("ByFingerprint", schema.Where("fingerprint_hash", schema.Equal),
				schema.Where("created_at", schema.GreaterOrEqual)).
			Downwards().Returning("question_id", "content_digest", "content_length", "created_at").
			InOrigin("User's recent answers"),
		schema.BatchGetItem.Pattern("GetOwnAnswers", "Responses", "A page of a person's own answers.").
			Returning("question_id", "response_id", "answer", "selected_option", "confidence", "points_earned",
				"created_at"),
		schema.BatchGetItem.Pattern("GetAnswersOfFeed", "Responses",
			"Which questions of a page of the feed a person answered, also before a deletion of their data.").
			Returning("response_id"),
		schema.BatchGetItem.Pattern("GetAnsweredQuestions", "Questions", "The questions of a page of answers.").
			Returning("question_id", "status", "prompt", "options", "deadline", "expires_at"),
		schema.GetItem.Pattern("GetOwnResponse", "Responses",
			"Whether a person answered a question: a read of the one key that their answer can have.").
			Returning("response_id").InOrigin("Check duplicate answer").UsedBy("humanapi", "notifier"),
		schema.Query.Pattern("ListByLastNotified", "Subscriptions",
			"Active subscriptions last notified before a moment, longest ago first. The notifier reads "+
				"ListDueSubscriptions instead, because the interval is each person's own.").
			By("ByLastNotified", schema.Where("active", schema.Equal), schema.Where("last_notified_at", schema.Less)).
			InOrigin("Get eligible for notification").ForOthers(),
		schema.GetItem.Pattern("GetUserStats", "UserStats", "A person's points, streak and badges.").
			InOrigin("Get user stats"),
		schema.Query.Pattern("ListTopTotal", "UserStats", "The highest all-time points of one shard.").
			By("ByTotalPoints", schema.Where("_leaderboard", schema.Equal)).Downwards().
			Returning("fingerprint_hash", "total_points", "total_answers").InOrigin("Leaderboard"),
		schema.Query.Pattern("ListTopDaily", "UserStats", "The highest points of one day and shard.").
			By("ByDailyPoints", schema.Where("daily_board", schema.Equal)).Downwards().
			Returning("fingerprint_hash", "daily_points", "daily_answers"),
		schema.Query.Pattern("ListTopWeekly", "UserStats", "The highest points of one week and shard.").
			By("ByWeeklyPoints", schema.Where("weekly_board", schema.Equal)).Downwards().
			Returning("fingerprint_hash", "weekly_points", "weekly_answers"),
	)
}

// writes are asks, answers, and what ends a question.
func writes() []schema.AccessPattern {
	return schema.UsedBy("agentapi",
		schema.UpdateItem.Pattern("TakePlace", "Guards",
			"Take a place for a new question among the agent's open questions, if under the quota, and count the "+
				"ask towards its rate limit."),
		schema.PutItem.Pattern("StoreQuestion", "Questions",
			"Store a question that has a place, unless its id exists."),
		schema.Transaction("CreateQuestion",
			"Store a question within the agent's quota, and its answer under an idempotency key.",
			schema.PutItem.On("Questions", "the question, unless its id exists"),
			schema.UpdateItem.On("Guards", "a place for it among the agent's open questions, if under the quota"),
			schema.KeepAnswer("Guards")),
		schema.UpdateItem.Pattern("FreePlaces", "Guards",
			"Give the places back of an agent's questions that ended unmarked, when the quota is full."),
		schema.Transaction("EndQuestion", "Close a question early, or mark it expired.",
			schema.UpdateItem.On("Questions", "status, end and retention, if it is open or partial"),
			schema.UpdateItem.On("Guards", "its place among the agent's open questions")).
			UsedBy("agentapi", "notifier"),
		schema.Transaction("SubmitResponse", "Store an answer, count it, and give its points, all or nothing.",
			schema.PutItem.On("Responses", "the answer, unless the person has answered"),
			schema.UpdateItem.On("Questions",
				"one more response, if it is open or partial, in time and short of answers; the last one closes it"),
			schema.PutItem.On("UserStats", "the person's new points, if they are still those that were read"),
			schema.UpdateItem.On("Guards",
				"its place among the agent's open questions, when the answer closes it").IfNeeded()).UsedBy("humanapi"),
		schema.Transaction("RewardLate",
			"Give the points of an answer that came too late. A transaction, so that a request whose answer was lost "+
				"recognises its own write.",
			schema.PutItem.On("UserStats",
				"the person's new points and the mark of the answer, if they are still those that were read")).
			UsedBy("humanapi"),
		schema.BatchGetItem.Pattern("GetHandles", "UserStats", "The names that the people of a leaderboard chose.").
			Returning("fingerprint_hash", "handle").UsedBy("humanapi"),
		schema.UpdateItem.Pattern("ChooseHandle", "UserStats",
			"Keep the name that a person who has answered chose, unless an operator has reset it. It counts the "+
				"version up, so an answer that is under way is made again with it.").UsedBy("humanapi"),
		schema.BatchGetItem.Pattern("GetAnswerState", "",
			"What an answer depends on: the question, the person's answer to it, the person's points, and the "+
				"last notification.").Across("Questions", "Responses", "UserStats", "Guards").Consistently().
			UsedBy("humanapi"),
	)
}

// subscriptions are the requests of people who subscribe their devices to notifications.
func subscriptions() []schema.AccessPattern {
	return schema.UsedBy("humanapi",
		schema.GetItem.Pattern("GetSubscription", "Subscriptions",
			"A subscription, or the one that has a token, or that a person made last."),
		schema.Transaction("CreateSubscription", "Store a subscription for a token that no other one has.",
			schema.PutItem.On("Subscriptions", "the subscription, unless its id exists"),
			schema.PutItem.On("Subscriptions", "the token's owner, unless it has one"),
			schema.PutItem.On("Subscriptions", "the person's last subscription, if the person is known").IfNeeded()),
		schema.UpdateItem.Pattern("ChangeSubscription", "Subscriptions",
			"Change a subscription's interval, and make it active, if it is as it was read or known."),
		schema.Transaction("UpdateSubscription", "Change a subscription's token or person.",
			schema.UpdateItem.On("Subscriptions", "token, interval and activity, if it is as it was read or known"),
			schema.PutItem.On("Subscriptions",
				"the person's last subscription, if a known person subscribes again").IfNeeded(),
			schema.PutItem.On("Subscriptions", "the new token's owner").IfNeeded(),
			schema.DeleteItem.On("Subscriptions", "the old token's owner").IfNeeded(),
			schema.DeleteItem.On("Subscriptions", "the subscription that had the new token").IfNeeded(),
			schema.DeleteItem.On("Subscriptions",
				"the item of a person whose last subscription this ends or takes over").IfNeeded(),
			schema.PutItem.On("Subscriptions",
				"the person's last subscription, if another one of theirs had the new token").IfNeeded()),
		schema.Transaction("DeleteSubscription", "End a subscription.",
			schema.DeleteItem.On("Subscriptions", "the subscription, if it is as it was read"),
			schema.DeleteItem.On("Subscriptions", "the token's owner"),
			schema.DeleteItem.On("Subscriptions",
				"the person's last subscription, if it is still this one").IfNeeded()),
	)
}

// notifications are the requests of the notifier.
func notifications() []schema.AccessPattern {
	return schema.UsedBy("notifier",
		schema.Query.Pattern("ListDueQuestions", "Questions",
			"Open and partial questions of one shard that people have to be notified of by now, longest due first.").
			By("ByDue", schema.Where("due", schema.Equal), schema.Where("due_at", schema.LessOrEqual)),
		schema.Query.Pattern("ListOverdueQuestions", "Questions",
			"Open and partial questions of one shard whose deadline has passed, earliest deadline first.").
			By("ByDeadline", schema.Where("due", schema.Equal), schema.Where("deadline", schema.LessOrEqual)),
		schema.BatchGetItem.Pattern("GetDueQuestions", "Questions", "Due and overdue questions as they are now."),
		schema.Transaction("ClaimQuestion",
			"Take a due question for this run of the notifier, unless another run has. A transaction, so that a "+
				"run whose answer was lost recognises its own write.",
			schema.UpdateItem.On("Questions", "when it was notified of and is next due, if it is due as read")),
		schema.Query.Pattern("ListDueSubscriptions", "Subscriptions",
			"Active subscriptions whose own interval has passed, longest ago first.").
			By("ByNextNotification", schema.Where("active", schema.Equal),
				schema.Where("next_notification_at", schema.LessOrEqual)),
		schema.UpdateItem.Pattern("ClaimPerson", "Guards",
			"Take a person for one notification, unless one was sent or may be sent within the interval, on any "+
				"device."),
		schema.UpdateItem.Pattern("ClaimSubscription", "Subscriptions",
			"Take a subscription for one notification, if it is due as read: last and next notification. "+
				"ClaimPerson comes first, if the person is known."),
		schema.UpdateItem.Pattern("DeferSubscription", "Subscriptions",
			"Make a subscription due when its interval since the person's last notification, on another device, "+
				"has passed."),
		schema.UpdateItem.Pattern("MarkNotified", "Guards",
			"Remember which question a person was notified of, once the notification is sent."),
		schema.UpdateItem.Pattern("ReleaseSubscription", "Subscriptions",
			"Undo a claim on a subscription whose notification was not sent."),
		schema.UpdateItem.Pattern("ReleasePerson", "Guards",
			"Undo a claim on a person whose notification was not sent."),
		schema.UpdateItem.Pattern("DeactivateSubscription", "Subscriptions",
			"Take a subscription with a dead token out of use, if it still has that token."),
	)
}
