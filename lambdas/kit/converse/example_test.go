package converse_test

import (
	"fmt"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse"
)

// A model's reply has exactly the form that was asked for, or is none.
func ExampleDecode() {
	var judged struct {
		Polite bool   `json:"polite"`
		Why    string `json:"why"`
	}
	fmt.Println(converse.Decode(`{"polite": true, "why": "It thanks."}`, &judged), judged.Polite, judged.Why)
	fmt.Println(converse.Decode(`Sure! {"polite": true}`, &judged) != nil)
	// Output:
	// <nil> true It thanks.
	// true
}
