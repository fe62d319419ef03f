package gobuild

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
)

// metadataKey is the key of this library in the Metadata of a function in a template.
const metadataKey = "onesynth"

// Recipe says how a function's binary was built, for AWS. A template carries it in the function's Metadata, as
//
//	{"onesynth": {"build": {"module": "example.com/orders", "package": "lambdas/hello", "flags": ["-trimpath"]}}}
//
// so that a local run can build the function for its machine. It contains no absolute path, so templates do not depend
// on the machine of the synth.
type Recipe struct {
	// Module, Package and Flags are as in [Source].
	Module  string   `json:"module"`
	Package string   `json:"package"`
	Flags   []string `json:"flags"`
	// Directory is the folder in which the toolchain knows the module, relative to the working directory of the app, or
	// "" if the app did not name it.
	Directory string `json:"directory,omitempty"`
}

// Name returns the name of the binary, as the toolchain chooses it: the last element of the package.
func (r Recipe) Name() string {
	if name := path.Base(Folder(r.Package)); name != "." {
		return name
	}
	return rootName(r.Module)
}

// Metadata returns the Metadata of a function with the recipe.
func (r Recipe) Metadata() (key string, value map[string]any) {
	flags := make([]any, len(r.Flags))
	for i, flag := range r.Flags {
		flags[i] = flag
	}
	described := map[string]any{"module": r.Module, "package": r.Package, "flags": flags}
	if r.Directory != "" {
		described["directory"] = r.Directory
	}
	return metadataKey, map[string]any{"build": described}
}

// ReadRecipe returns the recipe in a function's Metadata, and whether there is one. It returns an error if the
// recipe is incomplete.
func ReadRecipe(metadata map[string]any) (Recipe, bool, error) {
	text, err := json.Marshal(metadata[metadataKey])
	if err != nil {
		return Recipe{}, false, fmt.Errorf("reading Metadata.%s: %w", metadataKey, err)
	}
	var read struct{ Build *Recipe }
	err = json.Unmarshal(text, &read)
	if err == nil && read.Build == nil {
		return Recipe{}, false, nil
	}
	if err == nil {
		if read.Build.Module == "" {
			err = errors.New("it has no module")
		} else {
			err = Source{Module: read.Build.Module, Packages: []string{read.Build.Package},
				Flags: read.Build.Flags}.check()
		}
	}
	if err != nil {
		return Recipe{}, false,
			fmt.Errorf(
				`reading Metadata.%s.build: %w: write {"module": "example.com/orders", "package": "lambdas/hello", "flags": ["-trimpath"]}, or leave it out`,
				metadataKey, err)
	}
	return *read.Build, true, nil
}
