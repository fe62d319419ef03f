package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/document"
)

type openapiCommand struct {
	Assembly string `help:"Folder of the cloud assembly." default:"cdk.out" type:"path"`
	Stack    string `help:"Stack of the API, by name or by display id (Dev/Ask). Default: the only one with a document." placeholder:"STACK"`
	Path     string `help:"Path of the route that serves the document. Default: the one that ends in /openapi.json." placeholder:"PATH"`
}

// Help returns the text of --help below the summary.
func (c *openapiCommand) Help() string {
	return `It starts the function that serves the document, and no other; it needs no tables, no ports and no AWS account. It prints the document that the API answers with, indented. If several functions of an API serve one, it joins their documents.`
}

// Run prints the document.
func (c *openapiCommand) Run(ctx context.Context) error {
	set, err := target.ReadSettings()
	if err != nil {
		return err
	}
	options := document.Options{
		Assembly: c.Assembly, Stacks: set.Stacks, Path: c.Path, SSMParameters: set.SSMParameters,
		Folders: []string{filepath.Dir(c.Assembly), "."}, Log: func(line string) { fmt.Fprintln(os.Stderr, line) },
	}
	if c.Stack != "" {
		options.Stacks = []string{c.Stack}
	}
	read, err := document.Read(ctx, options)
	switch {
	case errors.Is(err, document.ErrAmbiguous):
		return fmt.Errorf("%w, with --stack or --path", err)
	case errors.Is(err, document.ErrNotFound):
		return fmt.Errorf("%w, with --path", err)
	case err != nil:
		return err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, read.Content, "", "  "); err != nil {
		return fmt.Errorf("stack %s: %s of API %s: %w", read.Stack, read.Path, read.API, err)
	}
	text.WriteByte('\n')
	_, err = text.WriteTo(os.Stdout)
	return err
}
