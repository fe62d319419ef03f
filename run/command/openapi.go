package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/document"
)

type openapiCommand struct {
	Assembly string `help:"Folder of the cloud assembly." default:"cdk.out" type:"path"`
	Stack    string `help:"Stack of the API, by name or by display id (Dev/Ask). Default: the only one with a document." placeholder:"STACK"`
	API      string `name:"api" help:"Name of the API, such as Links. Default: the only one with a document." placeholder:"NAME"`
}

// Help returns the text of --help below the summary.
func (c *openapiCommand) Help() string {
	return `It prints the document that the synth has written into the assembly, indented: of all operations of the API, also those of your own functions. Routes that no operation describes, such as those of pages, are named on standard error.`
}

// Run prints the document.
func (c *openapiCommand) Run() error {
	set, err := target.ReadSettings()
	if err != nil {
		return err
	}
	options := document.Options{
		Assembly: c.Assembly, Stacks: set.Stacks, API: c.API, SSMParameters: set.SSMParameters,
	}
	if c.Stack != "" {
		options.Stacks = []string{c.Stack}
	}
	read, err := document.Read(options)
	switch {
	case errors.Is(err, document.ErrAmbiguous):
		return fmt.Errorf("%w, with --stack or --api", err)
	case errors.Is(err, document.ErrNotFound):
		return fmt.Errorf("%w, with --stack or --api", err)
	case err != nil:
		return err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, read.Content, "", "  "); err != nil {
		return fmt.Errorf("stack %s: API %s: %w", read.Stack, read.API, err)
	}
	for _, route := range read.Undescribed {
		fmt.Fprintln(os.Stderr, "not described:", route)
	}
	text.WriteByte('\n')
	_, err = text.WriteTo(os.Stdout)
	return err
}
