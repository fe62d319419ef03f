package check

import (
	"cmp"
	"fmt"
)

// step is a step of a plan: a deployment, or what to do before or after one.
type step struct {
	what    string
	deploys bool
	// by is what makes a deployment in the app; "" for what makes the change that the plan is for.
	by string
}

func do(format string, arguments ...any) step { return step{what: fmt.Sprintf(format, arguments...)} }

func deploy(by, format string, arguments ...any) step {
	return step{what: fmt.Sprintf(format, arguments...), deploys: true, by: by}
}

// sayPlan returns the steps of a plan as findings have them: deployments with their numbers, and with what makes each
// in the app. by is what makes the change that the plan is for.
func sayPlan(plan []step, by string) []string {
	var said []string
	deployments := 0
	for _, s := range plan {
		if s.deploys {
			deployments++
			s.what = fmt.Sprintf("Deploy %d: %s By: %s.", deployments, s.what, cmp.Or(s.by, by))
		}
		said = append(said, s.what)
	}
	return said
}
