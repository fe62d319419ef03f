package console

import (
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Attention is what needs a look.
type Attention struct {
	// Faults are the names of the faults that are on.
	Faults []string `json:"faults"`
	// DeadLetters counts the messages in queues that no function reads.
	DeadLetters int `json:"dead_letters"`
	// FailedSchedules counts the schedules whose newest event failed.
	FailedSchedules int `json:"failed_schedules"`
	// RefusedPermissions counts the permissions that roles refused.
	RefusedPermissions int `json:"refused_permissions"`
}

func (c *Console) attention() Attention {
	found := Attention{Faults: on(c.parts.AWS.Faults()), RefusedPermissions: len(c.parts.AWS.Refused())}
	for _, queue := range c.queues() {
		if len(queue.Functions) == 0 {
			found.DeadLetters += queue.Messages
		}
	}
	for _, schedule := range c.schedules() {
		if schedule.Failure != (trace.Attempt{}) {
			found.FailedSchedules++
		}
	}
	return found
}

// on returns the names of the faults that are on, as POST /faults takes them.
func on(faults aws.Faults) []string {
	names := []string{}
	for _, fault := range []struct {
		name        string
		probability float64
	}{
		{"throttle", faults.Throttle}, {"transaction_conflict", faults.TransactionConflict},
		{"drop_response", faults.DropResponse}, {"hang", faults.Hang}, {"redeliver", faults.Redeliver},
	} {
		if fault.probability > 0 {
			names = append(names, fault.name)
		}
	}
	return names
}
