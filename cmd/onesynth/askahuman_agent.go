package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	store "github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/local/console"
	"github.com/onesynth-cdk/onesynth/schema"
)

type agentCommand struct {
	Create agentCreateCommand `cmd:"" help:"Issue a key to an agent, and print it: it is kept as a hash, so this is the only time."`
	List   agentListCommand   `cmd:"" help:"List the keys: ids, agents and last uses, never a key."`
	Revoke agentRevokeCommand `cmd:"" help:"Refuse a key from now on."`
}

// Help returns the text of --help below the summary.
func (c *agentCommand) Help() string {
	return `For Ask-a-Human with the prop AgentKeys. Without --stack the keys are those of the running assembly.
With --stack they are those of a deployed stack: credentials and Region are those of the AWS command line (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL); they need
cloudformation:DescribeStacks on the stack, dynamodb:UpdateItem on its table of keys (create, revoke), and dynamodb:Query on the table's index ByAgent (list, revoke).
Where a customer managed key of AWS KMS (the prop Key) encrypts the table, DynamoDB needs that they may use it, too, by way of DynamoDB alone
(condition kms:ViaService): ` + agentKeyActions + `.`
}

// keyTable has the flags with which commands find the table of keys.
type keyTable struct {
	target
	Table string `help:"Table of the keys, where there are several platforms." placeholder:"NAME"`
}

// agentKeyActions are the actions on a customer managed key that a user of the table needs
// ("DynamoDB encryption at rest", authorizing use of a customer managed key). The construct's
// GrantAccessPatterns grants the same.
const agentKeyActions = "kms:Decrypt, kms:DescribeKey, kms:Encrypt, kms:GenerateDataKey, kms:GenerateDataKeyWithoutPlaintext, kms:ReEncryptFrom, kms:ReEncryptTo"

// agentPermissions are the permissions that the commands need in AWS.
const agentPermissions = "cloudformation:DescribeStacks on the stack, dynamodb:UpdateItem on its table of keys, dynamodb:Query on the table's index ByAgent, " +
	"and, where a customer managed key encrypts the table, on that key " + agentKeyActions

// keyTableOutput matches outputs with names of tables of keys. If a platform is not directly below its stack, the CDK ends
// the output's name with a hash.
var keyTableOutput = regexp.MustCompile(`AgentKeysTableName([0-9A-F]{8})?$`)

// use calls do with the keys in the table.
func (c *keyTable) use(ctx context.Context, do func(*askahuman.AgentKeys) error) error {
	find := c.local
	if deployed, err := c.deployed(); err != nil {
		return err
	} else if deployed {
		find = c.inStack
	}
	tables, err := find(ctx)
	if err != nil {
		return err
	}
	where := c.where()
	name, err := c.choose(where, slices.Sorted(maps.Keys(tables)))
	if err != nil {
		return err
	}
	configuration := tables[name]
	db, err := dynamo.New(dynamodb.NewFromConfig(configuration), schema.AgentKeys(), map[string]string{"AgentKeys": name})
	if err != nil {
		return err
	}
	err = do(&askahuman.AgentKeys{Store: store.NewAgentKeys(db)})
	var missing *types.ResourceNotFoundException
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("%s has no table %s in the Region %s: %w", where, name, configuration.Region, err)
	case errors.Is(err, askahuman.ErrAgentKeyNotFound):
		return fmt.Errorf("%w in the table %s: onesynth agent list shows their ids; a key that was issued a moment ago is there in a second", err, name)
	}
	return advise(err, configuration.Region, agentPermissions)
}

// choose returns the table of the given ones, which are sorted, that the flags name.
func (c *keyTable) choose(where string, tables []string) (string, error) {
	switch {
	case len(tables) == 0:
		return "", fmt.Errorf("%s has no table of agents' keys: set the prop AgentKeys of Ask-a-Human; without it, agents show tokens or are open", where)
	case c.Table == "" && len(tables) > 1:
		return "", fmt.Errorf("%s has several tables of agents' keys: choose with --table %s", where, strings.Join(tables, " or --table "))
	case c.Table != "" && !slices.Contains(tables, c.Table):
		return "", fmt.Errorf("--table: got %q, allowed are %s", c.Table, strings.Join(tables, ", "))
	case c.Table != "":
		return c.Table, nil
	}
	return tables[0], nil
}

// local returns the tables of the running assembly, each with its endpoint.
func (c *keyTable) local(ctx context.Context) (map[string]aws.Config, error) {
	stacks, err := c.runningOutputs(ctx)
	if err != nil {
		return nil, err
	}
	var engine console.Database
	if err := c.call(ctx, http.MethodGet, "/dynamodb", nil, &engine); err != nil {
		return nil, err
	}
	tables := map[string]aws.Config{}
	stackOf := map[string]string{}
	for _, stack := range stacks {
		accessKey := engine.AccessKey
		for _, environment := range engine.Environments {
			if environment.Account == stack.Account && environment.Region == stack.Region {
				accessKey = environment.AccessKey
			}
		}
		for output, table := range stack.Outputs {
			if !keyTableOutput.MatchString(output) {
				continue
			}
			at := fmt.Sprintf("%s (aws://%s/%s)", stack.Stack, stack.Account, stack.Region)
			if other, ok := stackOf[table]; ok && other != at {
				return nil, fmt.Errorf("the run has tables of agents' keys of one name, %s, in the stacks %s and %s: run one of them alone, with onesynth local --stack", table, other, at)
			}
			stackOf[table] = at
			tables[table] = aws.Config{
				Region: engine.Region, BaseEndpoint: &engine.Endpoint, Credentials: credentials.NewStaticCredentialsProvider(accessKey, "local", ""),
			}
		}
	}
	return tables, nil
}

// inStack returns the tables of the deployed stack.
func (c *keyTable) inStack(ctx context.Context) (map[string]aws.Config, error) {
	configuration, outputs, err := c.deployedOutputs(ctx, agentPermissions)
	if err != nil {
		return nil, err
	}
	tables := map[string]aws.Config{}
	for output, table := range outputs {
		if keyTableOutput.MatchString(output) {
			tables[table] = configuration
		}
	}
	return tables, nil
}

type agentCreateCommand struct {
	keyTable
	Name string `arg:"" help:"The agent: 1 to 128 printable characters. Its questions belong to this name; several keys may have it."`
}

// Run prints the key alone, so that it fits into a shell variable.
func (c *agentCreateCommand) Run(ctx context.Context) error {
	return c.use(ctx, func(keys *askahuman.AgentKeys) error {
		key, kept, err := keys.Issue(ctx, c.Name)
		if err != nil {
			return err
		}
		fmt.Println(key)
		fmt.Fprintf(os.Stderr, "onesynth: the key has the id %s, and is shown this once. The agent %q sends it as X-Agent-Id, or as Authorization: Bearer KEY.\n", kept.ID(), kept.AgentID)
		return nil
	})
}

type agentListCommand struct {
	keyTable
	Format string `help:"Form of the list: ${enum}." enum:"table,json" default:"table"`
}

// listedAgentKey is a key in JSON.
type listedAgentKey struct {
	ID         string     `json:"id"`
	Agent      string     `json:"agent"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// Run prints the keys.
func (c *agentListCommand) Run(ctx context.Context) error {
	return c.use(ctx, func(keys *askahuman.AgentKeys) error {
		list, err := keys.List(ctx)
		if err != nil {
			return err
		}
		return c.print(os.Stdout, list)
	})
}

func (c *agentListCommand) print(out io.Writer, list []askahuman.AgentKey) error {
	if c.Format == "json" {
		listed := []listedAgentKey{}
		for _, k := range list {
			listed = append(listed, listedAgentKey{k.ID(), k.AgentID, k.CreatedAt, optional(k.LastUsedAt), optional(k.RevokedAt)})
		}
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(listed)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tAGENT\tCREATED\tLAST USED\tREVOKED")
	for _, k := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", k.ID(), k.AgentID, moment(k.CreatedAt), moment(k.LastUsedAt), moment(k.RevokedAt))
	}
	return w.Flush()
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

type agentRevokeCommand struct {
	keyTable
	ID string `arg:"" name:"id" help:"Id of the key, as list shows it; or the key, where it was found."`
}

// Run revokes the key, and prints its agent.
func (c *agentRevokeCommand) Run(ctx context.Context) error {
	return c.use(ctx, func(keys *askahuman.AgentKeys) error {
		key, err := keys.Revoke(ctx, c.ID)
		if err != nil {
			return err
		}
		fmt.Printf("%s of the agent %q is revoked since %s\n", key.ID(), key.AgentID, moment(key.RevokedAt))
		return nil
	})
}
