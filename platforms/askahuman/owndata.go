package askahuman

import (
	"github.com/onesynth-cdk/onesynth/schema"
)

// ownDataRoutes are the routes by which people export and delete what is kept of them.
func ownDataRoutes() []schema.Route {
	return []schema.Route{
		personRoute("exportData", "GET", "/human/data", "read", "Export what is kept of oneself"),
		personRoute("deleteData", "DELETE", "/human/data", "read", "Delete what is kept of oneself"),
	}
}

// ownDataPatterns are how what is kept of a person is found and deleted.
func ownDataPatterns() []schema.AccessPattern {
	return schema.UsedBy("humanapi",
		schema.BatchGetItem.Pattern("ExportAnswers", "Responses",
			"A page of a person's answers, with all that is kept of them."),
		schema.Query.Pattern("ListOwnSubscriptions", "Subscriptions",
			"A person's subscriptions on all devices, the newest first.").
			By("ByFingerprint", schema.Where("fingerprint_hash", schema.Equal)).Downwards(),
		schema.BatchGetItem.Pattern("ExportSubscriptions", "Subscriptions",
			"A page of a person's subscriptions, with all that is kept of them."),
		schema.GetItem.Pattern("GetNotified", "Guards", "When a person was last notified, and of what."),
		schema.UpdateItem.Pattern("ForgetAnswer", "Responses",
			"Take out of an answer what tells whose it is, if it is this person's. The answer stays."),
		schema.DeleteItem.Pattern("ForgetNotified", "Guards", "Delete when a person was last notified."),
		schema.UpdateItem.Pattern("DateStats", "UserStats",
			"Date a person's stats to now that a clock which was set back has dated ahead."),
		schema.DeleteItem.Pattern("ForgetStats", "UserStats",
			"Delete a person's stats, if they are as they were read: no answer came meanwhile."),
	)
}

// withOperatedData lets operators export and delete for people who ask them to.
func withOperatedData(p *schema.Platform) {
	all := []schema.AccessPattern{schema.Existing("ListRecentAnswers"), schema.Existing("GetUserStats"),
		schema.Existing("GetSubscription"), schema.Existing("DeleteSubscription")}
	for _, pattern := range ownDataPatterns() {
		all = append(all, schema.Existing(pattern.Name))
	}
	*p = p.Join(schema.Own{AccessPatterns: append(schema.UsedBy("moderationapi", all...),
		schema.UpdateItem.Pattern("ForgetBlocked", "UserStats",
			"Delete a blocked person's stats, if they are as they were read, and keep the block.").
			UsedBy("humanapi", "moderationapi"),
		schema.UpdateItem.Pattern("ForgetNameReport", "Reports",
			"Take the person, the name and what was said out of the report of a person's name, and end its retention.").
			UsedBy("humanapi", "moderationapi"))})
	moderationapi := function(p, "moderationapi")
	moderationapi.Secrets = append(moderationapi.Secrets, "FingerprintSecret")
	p.Routes = append(p.Routes,
		operatorRoute("exportDataOf", "GET", "/operator/data", "Export what is kept of a person"),
		operatorRoute("deleteDataOf", "DELETE", "/operator/data", "Delete what is kept of a person"))
}
