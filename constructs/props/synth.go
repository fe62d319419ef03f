package props

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
)

// Synth synthesises an app, and prints the warnings of its constructs to standard error if the app runs by itself, as
// by "go run .": the CDK's command prints those of an app that it runs. It ends the program, by [Fatal], if it cannot
// read the assembly.
func Synth(app awscdk.App) {
	app.Synth(nil)
	if os.Getenv("CDK_CLI_ASM_VERSION") != "" {
		return
	}
	told, err := warnings(*app.Outdir())
	if err != nil {
		Fatal(fmt.Errorf("reading the warnings of the assembly: %w", err))
	}
	for _, warning := range told {
		fmt.Fprintln(os.Stderr, warning)
	}
}

// warnings returns those of an assembly, and of the assemblies of stages in it, each with the path of the construct
// that it is about.
func warnings(folder string) (told []string, err error) {
	type metadata = map[string][]struct {
		Type string
		Data any
	}
	var manifest struct {
		Artifacts map[string]struct {
			Metadata               metadata
			AdditionalMetadataFile string
			// Properties.DirectoryName is the folder of a stage's assembly.
			Properties struct{ DirectoryName string }
		}
	}
	if err := readJSON(filepath.Join(folder, "manifest.json"), &manifest); err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(manifest.Artifacts)) {
		artifact := manifest.Artifacts[id]
		if of := artifact.Properties.DirectoryName; of != "" {
			within, err := warnings(filepath.Join(folder, of))
			if err != nil {
				return nil, err
			}
			told = append(told, within...)
		}
		all := artifact.Metadata
		if file := artifact.AdditionalMetadataFile; file != "" {
			if err := readJSON(filepath.Join(folder, file), &all); err != nil {
				return nil, err
			}
		}
		for _, path := range slices.Sorted(maps.Keys(all)) {
			for _, one := range all[path] {
				if one.Type == "aws:cdk:warning" {
					told = append(told, fmt.Sprintf("warning: %s: %v", strings.TrimPrefix(path, "/"), one.Data))
				}
			}
		}
	}
	return told, nil
}

func readJSON(name string, into any) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
