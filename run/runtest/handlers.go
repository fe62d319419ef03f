package runtest

import (
	"fmt"
	"slices"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// Handler is a function of an assembly.
type Handler struct {
	// Folder is the folder that has its program.
	Folder string
	// Invokers are the services of AWS that the stack permits to invoke it, such as "cognito-idp.amazonaws.com".
	Invokers []string
}

// Handlers returns the functions of the assembly in a folder.
func Handlers(folder string) ([]Handler, error) {
	source, err := assembly.Load(folder, assembly.Options{})
	if err != nil {
		return nil, err
	}
	invokers := map[string][]string{} // by the ARN or the name of a function
	for _, permission := range source.Resources("AWS::Lambda::Permission") {
		of := fmt.Sprint(permission.Properties["FunctionName"])
		invokers[of] = append(invokers[of], fmt.Sprint(permission.Properties["Principal"]))
	}
	var all []Handler
	for _, function := range source.Resources("AWS::Lambda::Function") {
		var properties struct{ Code struct{ S3Key string } }
		if err := function.Decode(&properties); err != nil {
			return nil, err
		}
		code, err := source.Asset(properties.Code.S3Key)
		if err != nil {
			return nil, err
		}
		all = append(all, Handler{code.Path, slices.Concat(invokers[function.ARN], invokers[function.Name])})
	}
	return all, nil
}
