package console

// What functions are given: secrets by name, parameters, and variables of their environment.

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/services/ssm"
)

// readers are the functions and schedules that read a secret or a parameter.
type readers struct {
	// ReadBy have read it since the start of the run.
	ReadBy []string `json:"read_by"`
	// MayRead may, according to their roles, and have not.
	MayRead []string `json:"may_read"`
}

// readersOf finds who has read the resource of an ARN, or may, by one of the actions.
func (c *Console) readersOf(arn string, actions ...string) readers {
	found := readers{ReadBy: []string{}, MayRead: []string{}}
	for _, use := range c.parts.AWS.Used() {
		if use.Resource == arn && slices.Contains(actions, use.Action) {
			found.ReadBy = append(found.ReadBy, use.Function)
		}
	}
	found.ReadBy = slices.Compact(found.ReadBy)
	for _, name := range c.parts.AWS.Callers() {
		for _, grant := range c.parts.AWS.UnusedGrants(name) {
			may := slices.ContainsFunc(actions, func(action string) bool { return grant.Matches(action, arn) })
			if may && !slices.Contains(found.ReadBy, name) && !slices.Contains(found.MayRead, name) {
				found.MayRead = append(found.MayRead, name)
			}
		}
	}
	return found
}

// secretView is a secret on the console, which shows no values.
type secretView struct {
	Name  string `json:"name"`
	ARN   string `json:"arn"`
	Stack string `json:"stack"`
	readers
}

func (c *Console) secrets() []secretView {
	views := []secretView{}
	for _, resource := range c.parts.Assembly.Resources("AWS::SecretsManager::Secret") {
		views = append(views, secretView{Name: resource.Name, ARN: resource.ARN, Stack: resource.Stack.Name,
			readers: c.readersOf(resource.ARN, "secretsmanager:GetSecretValue")})
	}
	return views
}

// parameterView is a parameter on the console.
type parameterView struct {
	ssm.Listed
	readers
}

func (c *Console) parameters() []parameterView {
	views := []parameterView{}
	for _, one := range c.parts.AWS.Parameters() {
		views = append(views, parameterView{one,
			c.readersOf(one.ARN, "ssm:GetParameter", "ssm:GetParameters", "ssm:GetParametersByPath")})
	}
	return views
}

// Variable is a variable of a function's environment.
type Variable struct {
	Name string `json:"name"`
	// Value is empty if it is hidden.
	Value string `json:"value"`
	// Hidden says that the value has a secret, or that the run's settings give it under a name that says so.
	Hidden bool `json:"hidden"`
}

// secretName matches the names of variables whose values are secrets.
var secretName = regexp.MustCompile(`(?i)secret|token|password|key|credential`)

// environment answers with the variables of a function, by name.
func (c *Console) environment(r *http.Request) ([]Variable, error) {
	given, err := c.parts.Functions.Environment(r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	var declared struct {
		Environment struct{ Variables map[string]string }
	}
	for _, resource := range c.parts.Assembly.Resources("AWS::Lambda::Function") {
		if resource.Name == r.PathValue("name") {
			if err := resource.Decode(&declared); err != nil {
				return nil, err
			}
		}
	}
	secret := c.secretTexts()
	variables := []Variable{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		one := Variable{Name: name, Value: given[name]}
		_, ofTemplate := declared.Environment.Variables[name]
		if one.Hidden = !ofTemplate && secretName.MatchString(name) || slices.ContainsFunc(secret,
			func(text string) bool { return strings.Contains(one.Value, text) }); one.Hidden {
			one.Value = ""
		}
		variables = append(variables, one)
	}
	return variables, nil
}

// secretTexts are the values of the secrets and parameters that a template can copy into a variable: those that it
// writes itself, and the texts of a JSON object among them.
func (c *Console) secretTexts() (texts []string) {
	add := func(text string) {
		if text != "" {
			texts = append(texts, text)
		}
	}
	for _, resource := range c.parts.Assembly.Resources("AWS::SecretsManager::Secret") {
		value, _ := resource.Properties["SecretString"].(string)
		add(value)
		var members map[string]any
		if json.Unmarshal([]byte(value), &members) == nil {
			for _, member := range members {
				text, _ := member.(string)
				add(text)
			}
		}
	}
	for _, resource := range c.parts.Assembly.Resources("AWS::SSM::Parameter") {
		if value, _ := resource.Properties["Value"].(string); resource.Properties["Type"] == "SecureString" {
			add(value)
		}
	}
	return texts
}
