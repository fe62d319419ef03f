package schema

import (
	"maps"
	"slices"
)

// The environment variables in which a function with [Function.CallsModel] finds the model of
// Amazon Bedrock. All are absent without a model, and the last two without a guardrail.
const (
	// ModelVariable has what the function calls: the id of a model or of an inference profile, or
	// an ARN ("modelId", Converse, Amazon Bedrock API reference).
	ModelVariable = "MODEL_ID"
	// GuardrailVariable has the id or the ARN of the guardrail, and GuardrailVersionVariable its
	// version, a number or "DRAFT".
	GuardrailVariable        = "GUARDRAIL_ID"
	GuardrailVersionVariable = "GUARDRAIL_VERSION"
)

// CallsModel reports whether a function of the platform calls a model.
func (p Platform) CallsModel() bool {
	return slices.ContainsFunc(p.Functions, func(fn Function) bool { return fn.CallsModel })
}

// validateModelVariables checks that nothing else is in the variables of the model.
func (p Platform) validateModelVariables(f *findings) {
	if !p.CallsModel() {
		return
	}
	variables := map[string]string{}
	for _, s := range p.Secrets {
		variables["Secrets["+s.Name+"].Variable"] = s.Variable
	}
	for _, b := range p.Buckets {
		variables["Buckets["+b.Name+"].Variable"] = b.Variable
	}
	for _, path := range slices.Sorted(maps.Keys(variables)) {
		if slices.Contains([]string{ModelVariable, GuardrailVariable, GuardrailVersionVariable}, variables[path]) {
			f.add(path, quoted(variables[path]), "write another name: functions find the model in it")
		}
	}
}
