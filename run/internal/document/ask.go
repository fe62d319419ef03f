package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/internal/loopback"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
)

const (
	// accessKey and secretKey are what the function signs its requests with.
	accessKey, secretKey = "document", "local"
	// maxLines is how many of the function's last lines an error quotes.
	maxLines = 10
	// patience is how long the AWS endpoint may take to end.
	patience = 5 * time.Second
)

// ask starts the function, and sends it the request for the document.
func (s served) ask(ctx context.Context, loaded *assembly.Assembly, options Options) (content []byte, err error) {
	folder, err := os.MkdirTemp("", "onesynth-document-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	function, err := s.function(ctx, loaded, folder, options)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on 127.0.0.1: %w", err)
	}
	address := "http://" + listener.Addr().String()
	endpoint, err := services.New(services.Options{Assembly: loaded,
		DynamoDB: dynamodb.ServiceOptions{EngineURL: address + noTables}, SSMParameters: options.SSMParameters})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	endpoint.Register(accessKey, function.Name, function.Role)

	routes := http.NewServeMux()
	routes.Handle("/", endpoint)
	routes.HandleFunc(noTables, refuseTables)
	server := &http.Server{Handler: loopback.Guard{Listener: "the endpoint of AWS"}.Handler(routes),
		ReadHeaderTimeout: patience}
	var serving errgroup.Group
	serving.Go(func() error { return server.Serve(listener) })
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		err = errors.Join(err, server.Shutdown(ending))
		if ended := serving.Wait(); !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
	}()

	var printed printed
	functions := lambda.New(lambda.Options{MaxInstances: 1, Region: assembly.DefaultRegion, Endpoint: address,
		Log: printed.add})
	defer functions.Close()
	if err := functions.Add(function.Function); err != nil {
		return nil, err
	}
	return s.get(ctx, functions, &printed)
}

// function returns the function behind the route, with a binary that runs here.
func (s served) function(ctx context.Context, loaded *assembly.Assembly, folder string,
	options Options) (lambda.Declared, error) {
	all, problems := lambda.Read(loaded, folder)
	for i, f := range all {
		if f.Name != s.api.Routes[0].Function {
			continue
		}
		one := all[i : i+1]
		if err := lambda.BuildForThisMachine(ctx, one, options.Folders, true, options.Log); err != nil {
			return lambda.Declared{}, err
		}
		one[0].AccessKeyID, one[0].SecretAccessKey = accessKey, secretKey
		return one[0], nil
	}
	return lambda.Declared{}, errors.Join(problems...)
}

// noTables is the path at which the AWS endpoint looks for its DynamoDB.
const noTables = "/dynamodb"

// refuseTables answers requests to DynamoDB.
func refuseTables(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",`+
		`"message":"there are no tables: a function that only tells its OpenAPI document must not need one to start"}`)
}

// get sends the request through the API, so that the function gets the event of API Gateway.
func (s served) get(ctx context.Context, functions *lambda.Service, printed *printed) ([]byte, error) {
	asked := &asking{Service: functions}
	api, err := apigateway.New(s.api, apigateway.Options{Invoker: asked, Log: func(line string) {
		asked.log = append(asked.log, line)
	}})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+s.path(), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.RequestURI, request.RemoteAddr = s.path(), "127.0.0.1:0"
	answered := &answer{header: http.Header{}}
	api.ServeHTTP(answered, request)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if answered.status != http.StatusOK {
		// What a function has printed may come after its answer, but not after its end.
		functions.Close()
		asked.log = append(asked.log, printed.last(maxLines)...)
		return nil, fmt.Errorf("got status %d %s\n%s", answered.status, bytes.TrimSpace(answered.body.Bytes()),
			strings.Join(asked.log, "\n"))
	}
	var described struct{ OpenAPI string }
	if err := json.Unmarshal(answered.body.Bytes(), &described); err != nil || described.OpenAPI == "" {
		return nil, fmt.Errorf("got %.200q, which is no OpenAPI document in JSON: it has no version in the member "+
			"openapi", answered.body.Bytes())
	}
	return answered.body.Bytes(), nil
}

// printed are the lines that a function has printed.
type printed struct {
	mutex sync.Mutex
	lines []string
}

func (p *printed) add(_, line string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.lines = append(p.lines, line)
}

func (p *printed) last(most int) []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.lines[max(0, len(p.lines)-most):]
}

// asking invokes functions, and keeps why one fails: API Gateway does not say that to callers.
type asking struct {
	*lambda.Service
	log []string
}

// InvokeWithin invokes a function.
func (a *asking) InvokeWithin(ctx context.Context, limit time.Duration, function string, payload []byte) (lambda.Result,
	error) {
	result, err := a.Service.InvokeWithin(ctx, limit, function, payload)
	if err != nil {
		a.log = append(a.log, err.Error())
	} else if result.FunctionError != "" {
		a.log = append(a.log, string(result.Payload))
	}
	return result, err
}

// answer keeps an answer.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(content []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(content)
}
