package check

import (
	"regexp"
	"strings"
)

// Note is a changed property of a resource that stays, about which there is no finding.
type Note struct {
	// Type and Path are the resource's type and construct path, and Property is the path of the property.
	Type, Path, Property string
	// Before and After are what the property says; "none" if it is missing.
	Before, After string
}

// CompareWithNotes returns the findings of [Compare], and the changed properties about which there is none, sorted by
// resource. Notes leave out code, assets, descriptions, tags, and what is compared by its meaning, such as policies.
func CompareWithNotes(deployed, proposed *Template, environment Environment) ([]Change, []Note) {
	c := compare(deployed, proposed, environment, environment)
	return c.findings, c.notes()
}

// unnoted matches the type and the path of properties without notes.
var unnoted = regexp.MustCompile(`[ .](\w*Tags|TagSet|\w*Description|Comment|Code|Content|CodeSha256|TemplateURL|` +
	`\w*Policy(Document|Text)|KeyPolicy|ResourcePolicy|Policies|ManagedPolicyArns|Key\w*Schema|AttributeDefinitions|` +
	`\w*SecondaryIndexes|TimeToLiveSpecification|StreamSpecification|SecretString|GenerateSecretString)(\.|$)|` +
	`^AWS::(Lambda::(Permission|Version)|Glue::Table|ApiGateway::Deployment|Events::EventBusPolicy|CDK::Metadata) |` +
	`Bucket LifecycleConfiguration|Authorizer JwtConfiguration|Route Authoriz|RestApi Policy|UserPool (Schema|User\w*)\b`)

// hash is a part of the name of an asset.
var hash = regexp.MustCompile(`[0-9a-f]{64}`)

func (c *comparison) notes() []Note {
	var all []Note
	for id, changed := range sorted(c.proposed) {
		old := c.deployed[id]
		if old == nil || old.kind != changed.kind {
			continue
		}
		for _, p := range leaves("", old.properties, changed.properties) {
			judged := unnoted.MatchString(changed.kind + " " + p.path)
			for _, path := range c.judged[id] {
				judged = judged || strings.Contains("."+p.path+".", "."+path+".") || strings.HasPrefix(path, p.path+".")
			}
			before, after := turned(p.before), turned(p.after)
			if !judged && hash.ReplaceAllString(text(p.before), "") != hash.ReplaceAllString(text(p.after), "") {
				all = append(all, Note{changed.kind, changed.constructPath(), p.path, before, after})
			}
		}
	}
	for _, within := range c.within {
		all = append(all, within.notes()...)
	}
	return all
}

// turned is what a note says of a value: the beginning of a long one.
func turned(v any) string {
	const most = 100
	switch said := []rune(say(v)); {
	case v == nil:
		return "none"
	case len(said) > most:
		return string(said[:most]) + "…"
	default:
		return string(said)
	}
}

// leaves returns the properties that differ, as deep as both values are objects, or lists of objects.
func leaves(path string, before, after any) []pair {
	if text(before) == text(after) {
		return nil
	}
	if path != "" && (!branches(before) || !branches(after)) {
		return []pair{{path, before, after}}
	}
	var all []pair
	for _, p := range pairs(before, after, []string{"*"}, path) {
		all = append(all, leaves(p.path, p.before, p.after)...)
	}
	return all
}

// branches reports whether a value has properties: it is an object and no expression, or a list of such.
func branches(v any) bool {
	for _, element := range list(v) {
		if _, isObject := element.(map[string]any); !isObject || !branches(element) {
			return false
		}
	}
	for name := range members(v) {
		if name == "Ref" || strings.HasPrefix(name, "Fn::") {
			return false
		}
	}
	return len(members(v)) > 0
}
