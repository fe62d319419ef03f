package check

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// userPool reports changes of settings that Cognito cannot change ("Updating user pool and app client configuration",
// Amazon Cognito developer guide).
func (c *comparison) userPool(old, changed *resource) {
	refuse := func(what, got string) {
		c.add(Refusal, "users", changed, got,
			"Cognito does not change "+what+" of a user pool: CloudFormation fails. Only a new pool can have it, and "+
				"users and their passwords do not move to it.",
			do("Leave it as it is deployed."),
			do("If you need the change: deploy a second user pool under another construct id, with a Lambda trigger "+
				"for user migration that signs people in at the old pool."),
			do("Point apps and the API's authorizer to the new pool, and drop the old one once its users have moved."))
	}
	for _, property := range []string{"AliasAttributes", "UsernameAttributes", "UsernameConfiguration"} {
		if before, after := old.at(property), changed.at(property); !reflect.DeepEqual(before, after) {
			refuse("how users sign in ("+property+")", turns(property, text(before), text(after)))
			return
		}
	}
	deployed, proposed := list(old.at("Schema")), list(changed.at("Schema"))
	if reflect.DeepEqual(deployed, proposed) {
		deployed, proposed = nil, nil
	}
	attributes := map[string]any{}
	for _, attribute := range proposed {
		attributes[text(at(attribute, "Name"))] = attribute
	}
	declared := map[string]bool{}
	for _, before := range deployed {
		name := text(at(before, "Name"))
		declared[name] = true
		if after := attributes[name]; !reflect.DeepEqual(before, after) {
			refuse("or remove the attributes", turns("the attribute "+name, text(before), text(after)))
			return
		}
	}
	for _, added := range proposed {
		if name := text(at(added, "Name")); !declared[name] && text(at(added, "Required")) == "true" {
			refuse("which attributes are required", "the attribute "+name+" is now required")
			return
		}
	}
}

// bucket reports new rules that delete objects.
func (c *comparison) bucket(old, changed *resource) {
	deployed := list(old.at("LifecycleConfiguration", "Rules"))
	for _, rule := range list(changed.at("LifecycleConfiguration", "Rules")) {
		expires := text(at(rule, "ExpirationInDays")) + text(at(rule, "ExpirationDate"))
		if expires == "" || text(at(rule, "Status")) != "Enabled" || contains(deployed, rule) {
			continue
		}
		c.add(Warning, "expiry", changed, "a rule that deletes objects is new or another: "+text(rule),
			"Amazon S3 also deletes existing objects that match the rule and are old enough.", do("Make sure that "+
				"prefix and days are what they should be."))
		break
	}
	c.formerVersions(old, changed)
}

// formerVersions reports a shorter time in which overwritten and deleted objects can be restored.
func (c *comparison) formerVersions(old, changed *resource) {
	if text(old.at("VersioningConfiguration", "Status")) != "Enabled" {
		return
	}
	deployed := list(old.at("LifecycleConfiguration", "Rules"))
	for _, rule := range list(changed.at("LifecycleConfiguration", "Rules")) {
		after, ok := formerDays(rule)
		if !ok {
			continue
		}
		before, limited := 0, false
		for _, was := range deployed {
			// A rule with tags does not apply to versions without them.
			if days, ok := formerDays(was); ok && at(was, "TagFilters") == nil &&
				strings.HasPrefix(text(at(rule, "Prefix")), text(at(was, "Prefix"))) && (!limited || days < before) {
				before, limited = days, true
			}
		}
		if limited && before <= after || contains(deployed, rule) {
			continue
		}
		had, leave := "for ever", do("Leave the rule out.")
		if limited {
			had, leave = fmt.Sprintf("%d days", before), do("Leave it at %d days.", before)
		}
		c.add(Refusal, "former", changed, fmt.Sprintf("former versions of objects are kept %d days, and were kept %s",
			after, had),
			"Amazon S3 deletes the versions that are older, those from before this deployment too: what was "+
				"overwritten or deleted then cannot be brought back.",
			leave, do("If they are to go: accept this finding."))
		return
	}
}

// formerDays returns the days after which a rule deletes former versions, and whether it does.
func formerDays(rule any) (int, bool) {
	days, err := strconv.Atoi(text(at(rule, "NoncurrentVersionExpiration", "NoncurrentDays")) +
		text(at(rule, "NoncurrentVersionExpirationInDays")))
	return days, err == nil && text(at(rule, "Status")) == "Enabled"
}

func contains(values []any, value any) bool {
	for _, v := range values {
		if reflect.DeepEqual(v, value) {
			return true
		}
	}
	return false
}
