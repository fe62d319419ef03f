// Package lakecommand runs the command onesynth-lake, which alone has the engine for queries of lakes: DuckDB, whose
// programs need a C compiler and are large.
package lakecommand

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

// Request is what onesynth-lake reads from its standard input. That ends when nobody waits for the answer any more.
type Request struct {
	// Check, when it is given, is a lake to check: the answer is a list of [catalog.Failure] in JSON.
	Check *catalog.Lake
	// Console is the address of the run with the lake of the question.
	Console  string
	Question catalog.Question
	// Format is the form of the rows, as of package lakequery. Default: a [catalog.Answer] in JSON.
	Format string
}

// patience is how long a command may take to interrupt its query, once nobody waits for its answer. Then it is killed.
const patience = 5 * time.Second

// Command finds onesynth-lake, or builds it. Make one with New. It is safe for concurrent use.
type Command struct {
	program program
	log     io.Writer

	mutex sync.Mutex
	path  string
}

// New returns the onesynth-lake of the version of this program. A build is announced in the log.
func New(log io.Writer) *Command { return &Command{program: thisProgram(), log: log} }

// Built reports whether a query or a check would begin at once. It is false while the command is being built.
func (c *Command) Built() bool {
	if !c.mutex.TryLock() {
		return false
	}
	defer c.mutex.Unlock()
	return c.path != "" || c.program.installed().path != "" || c.program.fits(c.program.kept())
}

// Write writes the rows of the answer in the format. Errors: *MissingError, and what the command says.
func (c *Command) Write(
	ctx context.Context, to io.Writer, console string, question catalog.Question, format string,
) error {
	return c.run(ctx, Request{Console: console, Question: question, Format: format}, to)
}

// Ask returns the answer. Errors as of Write.
func (c *Command) Ask(ctx context.Context, console string, question catalog.Question) (catalog.Answer, error) {
	var output bytes.Buffer
	if err := c.run(ctx, Request{Console: console, Question: question}, &output); err != nil {
		return catalog.Answer{}, err
	}
	var answer catalog.Answer
	err := json.Unmarshal(output.Bytes(), &answer)
	return answer, err
}

// Check finds the tables, views and saved queries of a lake that cannot be queried. Errors as of Write.
func (c *Command) Check(ctx context.Context, lake catalog.Lake) (failures []catalog.Failure, err error) {
	var output bytes.Buffer
	if err := c.run(ctx, Request{Check: &lake}, &output); err != nil {
		return nil, err
	}
	err = json.Unmarshal(output.Bytes(), &failures)
	return failures, err
}

func (c *Command) run(ctx context.Context, request Request, to io.Writer) (err error) {
	path, err := c.find(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	// A command that is killed leaves its files.
	folder, err := os.MkdirTemp("", "onesynth-lake-")
	if err != nil {
		return fmt.Errorf("folder for the query's files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	command := exec.CommandContext(ctx, path)
	var problem bytes.Buffer
	command.Stdout, command.Stderr, command.Env = to, &problem, append(os.Environ(), "TMPDIR="+folder)
	input, err := command.StdinPipe()
	if err != nil {
		return err
	}
	command.Cancel, command.WaitDelay = input.Close, patience
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	_, err = input.Write(text)
	if err := errors.Join(err, command.Wait()); err == nil || ctx.Err() != nil {
		return ctx.Err()
	} else if message := strings.TrimSpace(problem.String()); message != "" {
		return errors.New(message)
	} else {
		return fmt.Errorf("%s: %w", path, err)
	}
}

// find returns the path of the command, after building it if need be.
func (c *Command) find(ctx context.Context) (string, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.path != "" {
		return c.path, nil
	}
	found := c.program.installed()
	if found.path == "" {
		var err error
		if found.path, err = c.program.build(ctx, c.log); err != nil {
			return "", errors.Join(err, found.refused)
		}
	}
	c.path = found.path
	return c.path, nil
}

// Serve is onesynth-lake: it reads a request, and calls answer with a context that ends with the input.
func Serve(ctx context.Context, input io.Reader, answer func(context.Context, Request) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	decoder := json.NewDecoder(input)
	// A program of another version may ask for what this one does not know.
	decoder.DisallowUnknownFields()
	var request Request
	if err := decoder.Decode(&request); err != nil {
		return fmt.Errorf("read the request of onesynth: %w", err)
	}
	go func() {
		defer cancel()
		io.Copy(io.Discard, io.MultiReader(decoder.Buffered(), input))
	}()
	return answer(ctx, request)
}

// Stdin is the standard input, unless it is a terminal: nobody writes requests by hand.
func Stdin() (io.Reader, error) {
	info, err := os.Stdin.Stat()
	if err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return nil, errors.New("this is a part of onesynth: run onesynth lake")
	}
	return os.Stdin, err
}
