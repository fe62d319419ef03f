package finding_test

import (
	"errors"
	"fmt"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

func ExampleList() {
	var f finding.List
	f.Add("Props.Retries", -1, "0 to 185", "leave it 0 for none")
	f.Add("Props.Name", "", "1 to 64 characters", "give it a name")
	err := f.Err()
	fmt.Println(err)

	var invalid finding.List
	if errors.As(err, &invalid) {
		fmt.Println(invalid[1].Path)
	}
	// Output:
	// 2 findings:
	//   Props.Retries: got -1, allowed is 0 to 185: leave it 0 for none
	//   Props.Name: got "", allowed is 1 to 64 characters: give it a name
	// Props.Name
}
