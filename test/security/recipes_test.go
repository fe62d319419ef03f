package security

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/onesynth-cdk/onesynth/constructs/nag"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
)

// recipe is the environment of the stacks of examples/recipes. Each has what is different, not all that a platform has.
const recipe = "recipe"

// acceptedByRecipes are the findings that recipes accept beside those of To-Do, with paths below the stack.
var acceptedByRecipes = map[string][]nag.Accepted{
	"queue": nil,
	"bucket": {
		{Rule: "AwsSolutions-IAM5[Resource::<Bucket.Arn>/done/*]", Resource: "Keeper/Role/DefaultPolicy/Resource",
			Reason: "Objects get their names when they are written, and the function may use this prefix alone."},
		{Rule: "Serverless-LambdaDLQ", Resource: "Keeper/Resource/Resource",
			Reason: "The failure destination of the function keeps the events on which it failed."},
	},
	"issuer":   nil,
	"existing": nil,
	"schedule": nil,
	"page": {
		{Rule: "AwsSolutions-APIG4", Resource: "Todo/API/GET --/Resource", Reason: "The page is for everyone."},
		{Rule: "AwsSolutions-APIG4", Resource: "Todo/API/GET --assets--{path+}/Resource",
			Reason: "The files of the page are for everyone."},
	},
	"language":   nag.OpenRoutes("The greeting is for everyone.", "GET /greeting"),
	"stages-dev": nil,
}

// useRecipes loads the stacks of all recipes.
func useRecipes(folder string) error {
	all := platforms.All()
	todo := all[slices.IndexFunc(all, func(p *platforms.Platform) bool { return p.ID == "Todo" })]
	var inherited []nag.Accepted
	for _, s := range stacks {
		if s.platform.ID == todo.ID {
			inherited = append(inherited, s.accepted...)
		}
	}
	for name, accepted := range acceptedByRecipes {
		s, err := load(folder, recipe+"-"+name)
		if err != nil {
			return err
		}
		s.platform, s.environment, s.accepted, s.inherited = todo, recipe, accepted, inherited
		stacks[recipe+"-"+name] = s
	}
	if declared, err := filepath.Glob(filepath.Join(folder, recipe+"-*.template.json")); err != nil ||
		len(declared) != len(acceptedByRecipes) {
		return fmt.Errorf("recipes: got the stacks %v and error %v, want those of acceptedByRecipes", declared, err)
	}
	return nil
}
