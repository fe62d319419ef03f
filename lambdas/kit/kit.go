// Package kit has what the handlers of every platform share: start-up, logs, metrics, and HTTP behind API Gateway. It
// knows no platform.
//
// A main package calls [StartHTTP], [StartEvent] or [StartResponder] with a
// function that wires its handler from an [Environment], and does nothing else.
//
// They fit Go's runtime to the memory of the function. Below 1,769 MB, where Lambda gives less than one processor, one
// thread runs Go at a time (GOMAXPROCS=1). The heap may grow fivefold before it is collected (GOGC=400), up to a memory
// limit (GOMEMLIMIT) of the function's memory less a tenth, at least 32 MB. An environment variable of these names wins
// over the setting.
package kit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Environment is what a function gets at its start: its AWS configuration, log, metrics and environment variables.
type Environment struct {
	// AWS is the configuration for AWS clients: the function's role and region,
	// [Retryer] and [AttemptTimeout].
	AWS aws.Config
	// Log writes JSON lines to standard output.
	Log *slog.Logger
	// Metrics writes to the namespace that schema.MetricNamespace gives the platform.
	Metrics *Metrics
	// Getenv reads an environment variable.
	Getenv func(string) string
	// Variables are the names of the function's own variables, sorted, without Lambda's. Empty: they are not known.
	Variables []string
}

// StartHTTP sets the function up and serves API Gateway requests in payload format 2.0 until the process ends. If setup
// fails, or if the function lacks a route that the API of a local run sends it, StartHTTP reports why to Lambda and to
// the log, and ends the process.
func StartHTTP(platform string, setup func(context.Context, Environment) (*API, error)) {
	start(platform, func(ctx context.Context, environment Environment) (lambda.Handler, error) {
		api, err := setup(ctx, environment)
		if err != nil {
			return nil, err
		}
		if err := api.checkRoutes(environment.Getenv(routesVariable)); err != nil {
			return nil, err
		}
		api.Log = cmp.Or(api.Log, environment.Log)
		return NewHTTPHandler(api), nil
	})
}

// StartEvent is [StartHTTP] for a function that handles events of type E. An error of handle fails the invocation:
// whatever invoked the function retries or dead-letters the event by its own settings.
func StartEvent[E any](platform string, setup func(context.Context, Environment) (handle func(context.Context, E) error,
	err error)) {
	start(platform, func(ctx context.Context, environment Environment) (lambda.Handler, error) {
		handle, err := setup(ctx, environment)
		if err != nil {
			return nil, err
		}
		return NewEventHandler(environment.Log, handle), nil
	})
}

// StartResponder is [StartEvent] for a function that returns a response of type R, as JSON, such as the records of a
// batch to deliver again.
func StartResponder[E, R any](platform string,
	setup func(context.Context, Environment) (handle func(context.Context, E) (R, error), err error)) {
	start(platform, func(ctx context.Context, environment Environment) (lambda.Handler, error) {
		handle, err := setup(ctx, environment)
		if err != nil {
			return nil, err
		}
		return NewResponder(environment.Log, handle), nil
	})
}

// NewEventHandler returns the handler that [StartEvent] starts. It logs one line for each invocation.
func NewEventHandler[E any](log *slog.Logger, handle func(context.Context, E) error) lambda.Handler {
	return NewResponder(log, func(ctx context.Context, event E) (any, error) { return nil, handle(ctx, event) })
}

// NewResponder returns the handler that [StartResponder] starts. It logs one line for each invocation.
func NewResponder[E, R any](log *slog.Logger, handle func(context.Context, E) (R, error)) lambda.Handler {
	return &responder[E, R]{log: log, handle: handle}
}

type responder[E, R any] struct {
	log         *slog.Logger
	handle      func(context.Context, E) (R, error)
	invocations invocations
}

func (h *responder[E, R]) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, cancel := h.invocations.workContext(ctx, retry.ForBatch)
	defer cancel()
	began := time.Now()
	body, err := h.respond(ctx, payload)
	if err != nil {
		h.log.ErrorContext(ctx, "invocation failed", "error", err.Error(), "ms", milliseconds(time.Since(began)))
		return nil, err
	}
	h.log.InfoContext(ctx, "invocation", "ms", milliseconds(time.Since(began)))
	return body, nil
}

func (h *responder[E, R]) respond(ctx context.Context, payload []byte) (body []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = Panicked(ctx, h.log, reason)
		}
	}()
	var event E
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, fmt.Errorf("reading the event as %T: %w", event, err)
	}
	response, err := h.handle(ctx, event)
	if err != nil {
		return nil, err
	}
	if body, err = json.Marshal(response); err != nil {
		return nil, fmt.Errorf("writing the response: %w", err)
	}
	return body, nil
}

func start(platform string, setup func(context.Context, Environment) (lambda.Handler, error)) {
	ctx := context.Background()
	runtimeFor(os.Getenv).apply()
	handler, err := initialise(ctx, platform, os.Getenv, os.Stdout, func(ctx context.Context,
		environment Environment) (lambda.Handler, error) {
		environment.Variables = ownVariables(os.Environ())
		return setup(ctx, environment)
	})
	if err != nil {
		reportInitError(ctx, os.Getenv("AWS_LAMBDA_RUNTIME_API"), err)
		os.Exit(1)
	}
	lambda.Start(handler)
}

// initialise builds the environment and the handler, and logs what failed.
func initialise(ctx context.Context, platform string, getenv func(string) string, out io.Writer,
	setup func(context.Context, Environment) (lambda.Handler, error)) (lambda.Handler, error) {
	function := getenv("AWS_LAMBDA_FUNCTION_NAME")
	log, err := NewLogger(out, getenv("LOG_LEVEL"), function)
	if err != nil {
		log, _ = NewLogger(out, "", function)
		log.ErrorContext(ctx, "cannot start", "error", err.Error())
		return nil, err
	}
	handler, err := func() (handler lambda.Handler, err error) {
		defer func() {
			if reason := recover(); reason != nil {
				// The error cannot quote a caller, because no event has arrived yet.
				err = fmt.Errorf("panic: %v", reason)
				log.ErrorContext(ctx, "panic", "error", err.Error(), "stack", string(debug.Stack()))
			}
		}()
		config, err := loadAWS(ctx)
		if err != nil {
			return nil, fmt.Errorf("loading the AWS configuration: %w", err)
		}
		return setup(ctx, Environment{
			AWS: config,
			Log: log,
			Metrics: &Metrics{Namespace: schema.MetricNamespace(getenv(schema.MetricNamespaceVariable), platform),
				Function: function, Writer: out},
			Getenv: getenv,
		})
	}()
	if err != nil {
		log.ErrorContext(ctx, "cannot start", "error", err.Error())
	}
	return handler, err
}

// reportInitError tells Lambda why the function cannot start ("Lambda runtime API": initialization
// error), so that its own record names the reason and not only an exit status. It ignores its own
// errors, because the log already has the reason.
func reportInitError(ctx context.Context, runtimeAPI string, reason error) {
	if runtimeAPI == "" {
		return
	}
	body, err := json.Marshal(map[string]string{"errorMessage": reason.Error(), "errorType": "Runtime.InitError"})
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://"+runtimeAPI+"/2018-06-01/runtime/init/error", bytes.NewReader(body))
	if err != nil {
		return
	}
	request.Header.Set("Lambda-Runtime-Function-Error-Type", "Runtime.InitError")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	response.Body.Close()
}

// ownVariables returns the names of a process's variables, without those that Lambda defines ("Defined runtime
// environment variables", AWS Lambda developer guide) and those that a shell sets.
func ownVariables(environ []string) (names []string) {
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		defined := slices.ContainsFunc([]string{"AWS_", "LAMBDA_", "_"}, func(beginning string) bool {
			return strings.HasPrefix(name, beginning)
		})
		if !defined && !slices.Contains([]string{"HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "PWD", "SHLVL", "TZ"},
			name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Require returns the values of environment variables that must be set, in order. The error names every missing one,
// and the variables that the function has.
func (e Environment) Require(names ...string) ([]string, error) {
	values := make([]string, len(names))
	var missing []error
	for i, name := range names {
		values[i] = e.Getenv(name)
		if values[i] == "" {
			missing = append(missing, fmt.Errorf("the environment variable %s is not set: the construct sets it; set "+
				"it when you run the function by other means", name))
		}
	}
	if len(missing) > 0 && len(e.Variables) > 0 {
		missing = append(missing, fmt.Errorf("the function has the variables %s", strings.Join(e.Variables, ", ")))
	}
	return values, errors.Join(missing...)
}

// Bool reads a variable that is "true" or "false". An unset one is false; anything else is an error.
func (e Environment) Bool(name string) (bool, error) {
	switch value := e.Getenv(name); value {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	default:
		return false, fmt.Errorf("%s is %q: write true or false", name, value)
	}
}

// Int reads a variable that is a whole number, least or more. An unset one is least; anything else is an error.
func (e Environment) Int(name string, least int) (int, error) {
	value := e.Getenv(name)
	if value == "" {
		return least, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least {
		return 0, fmt.Errorf("%s is %q: write a whole number of at least %d", name, value, least)
	}
	return n, nil
}
