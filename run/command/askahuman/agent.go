// Package askahuman has the commands of onesynth for Ask-a-Human: keys of agents, and the tools of an agent on this
// machine.
package askahuman

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/command/output"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
)

// Commands are the commands of the platform.
type Commands struct {
	Agent agentCommand `cmd:"" help:"Issue, list and revoke the keys that AI agents show, of the running assembly or of a deployed stack."`
	MCP   mcpCommand   `cmd:"" name:"mcp" help:"Serve the tools of Ask-a-Human to a desktop agent, by the Model Context Protocol on standard input and output."`
}

type agentCommand struct {
	Create agentCreateCommand `cmd:"" help:"Issue a key to an agent, and print it this once: the table keeps its hash alone."`
	List   agentListCommand   `cmd:"" help:"List the ids, agents and last uses of the keys, never a key."`
	Revoke agentRevokeCommand `cmd:"" help:"Refuse a key from now on."`
}

// Help returns the text of --help below the summary.
func (c *agentCommand) Help() string {
	return `For Ask-a-Human with the prop AgentKeys. Without --stack the keys are those of the running assembly.
With --stack they are those of a deployed stack: credentials and Region are those of the AWS command line (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL); they need
cloudformation:DescribeStacks on the stack, dynamodb:UpdateItem on its table of keys (create, revoke), and dynamodb:Query on the table's index ByAgent (list, revoke).
If a customer managed key of AWS KMS (the prop Key) encrypts the table, they also need, by way of DynamoDB alone
(condition kms:ViaService): ` + agentKeyActions + `.`
}

// keyTable has the flags with which commands find the table of keys.
type keyTable struct {
	target.Stack
	Table string `help:"Table of the keys, if there are several platforms." placeholder:"NAME"`
}

// agentKeyActions are the actions on a customer managed key that a user of the table needs
// ("DynamoDB encryption at rest", authorizing use of a customer managed key). The construct's
// GrantAccessPatterns grants the same.
const agentKeyActions = "kms:Decrypt, kms:DescribeKey, kms:Encrypt, kms:GenerateDataKey, " +
	"kms:GenerateDataKeyWithoutPlaintext, kms:ReEncryptFrom, kms:ReEncryptTo"

// agentPermissions are the permissions that the commands need in AWS.
const agentPermissions = "cloudformation:DescribeStacks on the stack, dynamodb:UpdateItem on its table of keys, " +
	"dynamodb:Query on the table's index ByAgent, " +
	"and, where a customer managed key encrypts the table, on that key " + agentKeyActions

// keyTableOutput matches outputs with names of tables of keys. If a platform is not directly below its stack, the CDK
// ends the output's name with a hash.
var keyTableOutput = regexp.MustCompile(`AgentKeysTableName([0-9A-F]{8})?$`)

// use calls do with the keys in the table.
func (c *keyTable) use(ctx context.Context, do func(*service.AgentKeys) error) error {
	find := c.local
	if deployed, err := c.Deployed(); err != nil {
		return err
	} else if deployed {
		find = c.inStack
	}
	tables, err := find(ctx)
	if err != nil {
		return err
	}
	where := c.Where()
	name, err := c.choose(where, slices.Sorted(maps.Keys(tables)))
	if err != nil {
		return err
	}
	configuration := tables[name]
	db, err := dynamo.New(dynamodb.NewFromConfig(configuration), askahuman.AgentKeys(),
		map[string]string{"AgentKeys": name})
	if err != nil {
		return err
	}
	err = do(&service.AgentKeys{DB: db})
	var missing *types.ResourceNotFoundException
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("%s has no table %s in the Region %s: %w", where, name, configuration.Region, err)
	case errors.Is(err, askahuman.ErrAgentKeyNotFound):
		return fmt.Errorf("%w in the table %s: onesynth agent list shows their ids; a key that was issued a moment "+
			"ago is there in a second", err, name)
	}
	return target.Advise(err, configuration.Region, agentPermissions)
}

// choose returns the table of the given ones, which are sorted, that the flags name.
func (c *keyTable) choose(where string, tables []string) (string, error) {
	switch {
	case len(tables) == 0:
		return "", fmt.Errorf("%s has no table of agents' keys: set the prop AgentKeys of Ask-a-Human; without it, "+
			"agents show tokens or are open", where)
	case c.Table == "" && len(tables) > 1:
		return "", output.Usagef("%s has several tables of agents' keys: choose with --table %s", where,
			strings.Join(tables, " or --table "))
	case c.Table != "" && !slices.Contains(tables, c.Table):
		return "", output.Usagef("--table: got %q, allowed are %s", c.Table, strings.Join(tables, ", "))
	case c.Table != "":
		return c.Table, nil
	}
	return tables[0], nil
}

// local returns the tables of the running assembly, each with its endpoint.
func (c *keyTable) local(ctx context.Context) (map[string]aws.Config, error) {
	stacks, err := c.RunningOutputs(ctx)
	if err != nil {
		return nil, err
	}
	var engine console.Database
	if err := c.Call(ctx, http.MethodGet, "/dynamodb", nil, &engine); err != nil {
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
				return nil, fmt.Errorf("the run has tables of agents' keys of one name, %s, in the stacks %s and %s: "+
					"run one of them alone, with onesynth local --stack", table, other, at)
			}
			stackOf[table] = at
			tables[table] = aws.Config{
				Region: engine.Region, BaseEndpoint: &engine.Endpoint,
				Credentials: credentials.NewStaticCredentialsProvider(accessKey, "local", ""),
			}
		}
	}
	return tables, nil
}

// inStack returns the tables of the deployed stack.
func (c *keyTable) inStack(ctx context.Context) (map[string]aws.Config, error) {
	configuration, outputs, err := c.DeployedOutputs(ctx, agentPermissions)
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
	return c.use(ctx, func(keys *service.AgentKeys) error {
		key, kept, err := keys.Issue(ctx, c.Name)
		if err != nil {
			return err
		}
		fmt.Println(key)
		fmt.Fprintf(os.Stderr, "onesynth: the key has the id %s, and is shown this once. The agent %q sends it as "+
			"X-Agent-Id, or as Authorization: Bearer KEY.\n", kept.ID(), kept.AgentID)
		return nil
	})
}

type agentListCommand struct {
	keyTable
	output.Format
}

// listedAgentKey is a key as the command prints it.
type listedAgentKey struct {
	ID         string     `json:"id"`
	Agent      string     `json:"agent"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// Run prints the keys.
func (c *agentListCommand) Run(ctx context.Context) error {
	return c.use(ctx, func(keys *service.AgentKeys) error {
		list, err := keys.List(ctx)
		if err != nil {
			return err
		}
		var listed []listedAgentKey
		for _, k := range list {
			listed = append(listed, listedAgentKey{k.ID(), k.AgentID, k.CreatedAt, optional(k.LastUsedAt),
				optional(k.RevokedAt)})
		}
		return output.Rows(os.Stdout, c.Format, listed)
	})
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

type agentRevokeCommand struct {
	keyTable
	ID string `arg:"" name:"id" help:"Id of the key, as onesynth agent list shows it; or the key itself, if it was found somewhere."`
}

// Run revokes the key, and prints its agent.
func (c *agentRevokeCommand) Run(ctx context.Context) error {
	return c.use(ctx, func(keys *service.AgentKeys) error {
		key, err := keys.Revoke(ctx, c.ID)
		if err != nil {
			return err
		}
		fmt.Printf("%s of the agent %q is revoked since %s\n", key.ID(), key.AgentID,
			key.RevokedAt.UTC().Format(time.RFC3339))
		return nil
	})
}
