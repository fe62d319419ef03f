package check

import "maps"

// Nested is a nested stack that both templates of its parent have.
type Nested struct {
	Deployed, Proposed *Template
	Environment        Environment
}

// nestedStack is the type of a nested stack.
const nestedStack = "AWS::CloudFormation::Stack"

// Nested returns the nested stacks by logical id, each with the file of its template in the folder of the cloud
// assembly; "" if the template does not name the file.
func (t *Template) Nested() map[string]string {
	files := map[string]string{}
	for id, r := range t.resources {
		if r.Type == nestedStack {
			files[id] = text(r.Metadata["aws:asset:path"])
		}
	}
	return files
}

// nested compares nested stacks as stacks of their own, and reports those that could not be compared.
func (c *comparison) nested() {
	for changed := range of(c.proposed, nestedStack) {
		old := c.deployed[changed.id]
		if old == nil || old.kind != nestedStack {
			continue
		}
		n, known := c.environment.Nested[changed.id]
		if !known {
			if text(old.at("TemplateURL")) != text(changed.at("TemplateURL")) {
				c.warn("TemplateURL of "+changed.constructPath(), "nested", changed,
					"the template of the nested stack changes, and the check could not compare it",
					"What it loses is no finding here.", "Compare it by itself: --against, with the deployed template.")
			}
			continue
		}
		// The parent may give its parameters other values. Without AWS the parent alone has those from before.
		before, after := n.Environment, n.Environment
		before.Parameters = map[string]string{}
		for name, value := range members(old.at("Parameters")) {
			if said, ok := value.(string); ok {
				before.Parameters[name] = said
			}
		}
		maps.Copy(before.Parameters, n.Environment.Parameters)
		after.Parameters = maps.Clone(before.Parameters)
		for name, value := range members(changed.at("Parameters")) {
			if said := text(value); said != text(old.at("Parameters", name)) {
				after.Parameters[name] = said
			}
		}
		within := compare(n.Deployed, n.Proposed, before, after)
		c.within = append(c.within, within)
		for _, finding := range within.findings {
			finding.ID = changed.id + "/" + finding.ID
			c.findings = append(c.findings, finding)
		}
	}
}
