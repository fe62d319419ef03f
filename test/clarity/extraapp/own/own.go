// Package own is what a team adds to Clarity: the course that an attempt belongs to.
package own

import (
	"net/http"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Extra is the course of an attempt.
func Extra() []schema.Extra {
	return []schema.Extra{{Record: "Attempt", Attributes: []schema.ExtraAttribute{{
		Attribute: schema.String.Attribute("course", "Course of the attempt"),
		MaxLength: 50, Writers: []string{"courses"}, Shown: true,
	}}}}
}

// Own is the function that writes it.
func Own() schema.Own {
	return schema.Own{
		Functions: []schema.Function{{Name: "courses", Description: "Puts attempts into courses"}},
		AccessPatterns: []schema.AccessPattern{
			schema.UpdateItem.Pattern("SetCourse", "Attempts", "Set the course of an attempt.").UsedBy("courses")},
		Routes: schema.Routes(SetCourse),
	}
}

// AttemptParams name an attempt.
type AttemptParams struct {
	ID string `path:"id"`
}

// Course is what an attempt belongs to.
type Course struct {
	Course string `json:"course" minLength:"1" maxLength:"50"`
}

// SetCourse puts an attempt into a course.
var SetCourse = schema.Operation[AttemptParams, Course, schema.None]{
	ID: "setCourse", Route: "PUT /attempts/{id}/course", Function: "courses", Caller: schema.CallerUser,
	Summary: "Put an attempt into a course", Status: http.StatusNoContent,
}
