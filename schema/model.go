package schema

import "slices"

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
