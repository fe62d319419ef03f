// Package dynamodb gives the local run its DynamoDB: it creates the tables that an assembly declares, deletes expired
// items, reads streams, and passes the requests of functions to the engine.
//
// Time to live is done here because DynamoDB Local 3.3.1 does not do it as AWS does: expired items of tables with
// indexes mostly stay, and their stream records carry no identity of the TTL service.
package dynamodb

// The databases of a run: one for each account and region of its stacks, with their tables, and the deletion of what
// expires in them.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// DatabasesOptions say where an assembly's tables are kept.
type DatabasesOptions struct {
	// AccessKey begins the access keys of the databases: each is a database of its own. It must be alphanumeric.
	AccessKey string
	// Dir keeps which database belongs to which account and region. Default: nothing is kept.
	Dir string
	// Former are the databases that these come after: the same accounts and regions have the same databases.
	// Default: none.
	Former *Databases
	// SweepInterval is [SweeperOptions].Interval.
	SweepInterval time.Duration
	// Log gets failures in the background. Default: none.
	Log *slog.Logger
}

// Databases hold the tables of an assembly. Names of tables are unique in an account and region, as in AWS, so each
// account and region has a database. Make them with [OpenDatabases], before anything writes, so that every write is
// noted: see Wrote.
type Databases struct {
	engine  *engine.Engine
	options DatabasesOptions
	all     []*database
	// made are the names of the tables that the run has made, by access key: they are its own, also in an engine that
	// others use.
	made *sync.Map
	// endSweeping ends the deletion of what expires.
	endSweeping context.CancelFunc
}

type database struct {
	// source has the stacks of the account and region.
	source    *assembly.Assembly
	accessKey string
	suffix    string
	client    *dynamodb.Client
	sweeper   *Sweeper
	// watchers hear what the sweeper deletes. Those of the former databases go on.
	watchers *watchers
}

func (d *database) environment() string { return d.source.Stacks[0].Environment() }

// OpenDatabases reads which tables the assembly has, and makes nothing yet.
func OpenDatabases(engine *engine.Engine, source *assembly.Assembly, options DatabasesOptions) (*Databases, error) {
	opened := &Databases{engine: engine, options: options, made: &sync.Map{}}
	known, hearing := map[string]string{}, map[string]*watchers{}
	if former := options.Former; former != nil {
		opened.made = former.made
		for _, one := range former.all {
			known[one.environment()], hearing[one.environment()] = one.suffix, one.watchers
		}
	}
	ends, err := suffixes(source, options.Dir, known)
	if err != nil {
		return nil, err
	}
	for _, part := range source.Environments() {
		d := &database{source: part}
		d.suffix = ends[d.environment()]
		if d.watchers = hearing[d.environment()]; d.watchers == nil {
			d.watchers = &watchers{}
		}
		d.accessKey = options.AccessKey + d.suffix
		d.client = engine.Client(d.accessKey)
		if d.sweeper, err = NewSweeper(d.client, part, SweeperOptions{
			Interval: options.SweepInterval, Log: options.Log, watchers: d.watchers,
		}); err != nil {
			return nil, err
		}
		opened.all = append(opened.all, d)
	}
	return opened, nil
}

// suffixesFile, in the folder of the run's data, has the suffixes by account and region.
const suffixesFile = "environments.json"

// suffixes returns the ends of the databases' access keys, by account and region. The first account and region has
// none, so that a run of one, and data from before there were several, need none. Kept data keeps its suffix, also when
// stacks of further regions come or only some are chosen. The access key without a suffix becomes free once the
// assembly has no stack of its account and region, as when a stack gets an Env.
func suffixes(source *assembly.Assembly, folder string, kept map[string]string) (map[string]string, error) {
	path := ""
	if folder != "" {
		path = filepath.Join(folder, suffixesFile)
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &kept)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s, which tells the tables of accounts and regions apart: %w: mend it, or remove "+
				"the data folder", path, err)
		}
	}
	free, changed := true, false
	for environment, suffix := range kept {
		if suffix == "" && source.HasEnvironment(environment) {
			free = false
		}
	}
	for _, of := range source.Environments() {
		environment := of.Stacks[0].Environment()
		if _, known := kept[environment]; known {
			continue
		}
		if free {
			maps.DeleteFunc(kept, func(_, suffix string) bool { return suffix == "" })
			kept[environment], free = "", false
		} else {
			// Access keys have letters and digits.
			kept[environment] = of.Stacks[0].Account + strings.ReplaceAll(of.Stacks[0].Region, "-", "")
		}
		changed = true
	}
	if path == "" || !changed {
		return kept, nil
	}
	text, err := json.Marshal(kept)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	// A full disk leaves the former file.
	if err == nil {
		err = os.WriteFile(path+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return nil, fmt.Errorf("keep the account and region of each table: %w", err)
	}
	return kept, nil
}

// AccessKeys are those of the databases, by account and region as [assembly.Environment] writes them.
func (d *Databases) AccessKeys() map[string]string {
	keys := map[string]string{}
	for _, one := range d.all {
		keys[one.environment()] = one.accessKey
	}
	return keys
}

// Client is a client on the database of the first account and region.
func (d *Databases) Client() *dynamodb.Client { return d.all[0].client }

// Wrote notes that a request wrote, or may have written, so that its change is delivered soon: body is its input in
// DynamoDB's JSON. Call it after the engine has answered.
func (d *Databases) Wrote(environment string, body []byte) {
	for _, one := range d.all {
		if one.environment() == environment {
			d.engine.Wrote(one.accessKey, writtenTables(body)...)
		}
	}
}

// writtenTables are the tables that a request names, or none when it names none that are found here.
func writtenTables(body []byte) (tables []string) {
	type named struct{ TableName string }
	var request struct {
		named
		RequestItems  map[string]json.RawMessage
		TransactItems []map[string]named
	}
	if json.Unmarshal(body, &request) != nil {
		return nil
	}
	add := func(name string) {
		if name = tableName(name); name != "" && !slices.Contains(tables, name) {
			tables = append(tables, name)
		}
	}
	add(request.TableName)
	for name := range request.RequestItems {
		add(name)
	}
	for _, element := range request.TransactItems {
		for _, one := range element {
			add(one.TableName)
		}
	}
	return tables
}

// tableName is the name of a table, which a request may name by its ARN.
func tableName(named string) string { return named[strings.LastIndexByte(named, '/')+1:] }

// CreateTables creates the tables that do not exist, alters the others to what the assembly declares, and logs what it
// alters. Existing tables of an engine that was given by URL stay as they are, because others may use them.
func (d *Databases) CreateTables(ctx context.Context, log func(line string)) error {
	return d.createTables(ctx, log, d.options.Former != nil, true)
}

// RemoveIndexes removes the indexes and ends the streams that CreateTables has kept for the code of the former
// assembly.
func (d *Databases) RemoveIndexes(ctx context.Context, log func(line string)) error {
	return d.createTables(ctx, log, false, false)
}

// createTables also begins the streams of the tables, if begin is set.
func (d *Databases) createTables(ctx context.Context, log func(line string), keep, begin bool) error {
	return d.eachTable(ctx, func(ctx context.Context, one *database, table *assembly.Resource,
		input *dynamodb.CreateTableInput) error {
		name := one.accessKey + " " + table.Name
		_, own := d.made.Load(name)
		progress := log
		if d.engine.PID() == 0 && !own {
			progress = nil
		}
		made, err := createTable(ctx, one.client, input, table.Existing, keep, progress)
		if made {
			d.made.Store(name, true)
		}
		if err == nil && begin && input.StreamSpecification != nil && (made || progress != nil) {
			err = d.beginStream(ctx, one, table, input)
		}
		return err
	})
}

// eachTable calls the function with each table and its database, those of one database at once.
func (d *Databases) eachTable(ctx context.Context, call func(context.Context, *database, *assembly.Resource,
	*dynamodb.CreateTableInput) error) error {
	for _, one := range d.all {
		if err := eachTable(ctx, one.source, func(ctx context.Context, table *assembly.Resource,
			input *dynamodb.CreateTableInput) error {
			return call(ctx, one, table, input)
		}); err != nil {
			return err
		}
	}
	return nil
}

// Check returns why a table that the engine has could not become what the assembly declares: another key, another local
// index, or items that do not fit a new index. It changes nothing. Errors: ErrTableDiffers, ErrUnfitItems.
func (d *Databases) Check(ctx context.Context) error {
	return d.eachTable(ctx, func(ctx context.Context, one *database, _ *assembly.Resource,
		input *dynamodb.CreateTableInput) error {
		return check(ctx, one.client, input)
	})
}

// Start begins to delete what expires, until ctx ends; the channel that it returns is closed when that has ended. The
// tables must exist. The former databases end theirs.
func (d *Databases) Start(ctx context.Context) <-chan struct{} {
	var working sync.WaitGroup
	ctx, d.endSweeping = context.WithCancel(ctx)
	for _, one := range d.all {
		working.Go(func() { one.sweeper.Run(ctx) })
	}
	if former := d.options.Former; former != nil {
		former.endSweeping()
		// The former ones hold what came before them.
		d.options.Former = nil
	}
	ended := make(chan struct{})
	go func() {
		working.Wait()
		close(ended)
	}()
	return ended
}

// Sweep deletes expired items now and returns how many.
func (d *Databases) Sweep(ctx context.Context) (deleted int, err error) {
	for _, one := range d.all {
		n, err := one.sweeper.Sweep(ctx)
		if deleted += n; err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// Design describes a table as the assembly declares it. Stack is needed as for Items. It fails with ErrNoTable.
func (d *Databases) Design(name, stack string) (Design, error) {
	_, resource, err := d.table(name, stack)
	if err != nil {
		return Design{}, err
	}
	properties, err := readProperties(resource)
	if err != nil {
		return Design{}, err
	}
	return properties.design(resource), nil
}

// Tables describes the tables as the engine does, with those properties that only the template has.
func (d *Databases) Tables(ctx context.Context) ([]Table, error) {
	all := []Table{}
	for _, one := range d.all {
		tables, err := DescribeTables(ctx, one.client, one.source)
		if err != nil {
			return nil, err
		}
		all = append(all, tables...)
	}
	return all, nil
}
