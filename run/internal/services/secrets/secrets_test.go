package secrets_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/aws/awstest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services/secrets"
)

const everything = `[{"Effect": "Allow", "Action": "*", "Resource": "*"}]`

type fixture struct {
	assembly *assembly.Assembly
	client   *secretsmanager.Client
}

// start serves the secrets to a function. The statements are its role's.
func start(t *testing.T, statements string, options secrets.Options) *fixture {
	t.Helper()
	loaded := assemblytest.LoadFile(t, "testdata/resources.json", "STATEMENTS", statements)
	store := must.Get(secrets.New(options))(t)
	return &fixture{loaded, secretsmanager.NewFromConfig(awstest.Serve(t, "secretsmanager", store, loaded))}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keeping := secrets.Options{Dir: dir,
		ServiceAccount: func(template string) (string, error) { return "made of " + template, nil }}
	f := start(t, everything, keeping)
	get := func(f *fixture, id string) (string, error) {
		got, err := f.client.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String(id)})
		if err != nil {
			return "", err
		}
		return aws.ToString(got.SecretString), nil
	}
	plain, err := get(f, "plain")
	if err != nil || len(plain) != 32 {
		t.Fatalf("got %q %v", plain, err)
	}
	arn := f.assembly.ByName("plain", "AWS::SecretsManager::Secret").ARN
	for _, id := range []string{arn, arn[:len(arn)-7]} {
		if again, err := get(f, id); err != nil || again != plain {
			t.Errorf("%s: got %q %v, want the same value", id, again, err)
		}
	}
	shaped := must.Get(get(f, "shaped"))(t)
	var members map[string]string
	if err := json.Unmarshal([]byte(shaped), &members); err != nil || members["user"] != "x" ||
		len(members["password"]) != 12 || strings.ContainsAny(members["password"],
		"0Oo!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ") {
		t.Errorf("got %q %v", shaped, err)
	}
	if account, err := get(f, "account"); err != nil ||
		!strings.HasPrefix(account, `made of {"type":"service_account"`) {
		t.Errorf("got %q %v", account, err)
	}
	for _, id := range []string{"empty", "none"} {
		var missing interface{ ErrorCode() string }
		if _, err := get(f, id); !errors.As(err, &missing) || missing.ErrorCode() != "ResourceNotFoundException" {
			t.Errorf("%s: got %v", id, err)
		}
	}
	if described, err := f.client.DescribeSecret(t.Context(),
		&secretsmanager.DescribeSecretInput{SecretId: aws.String("plain")}); err != nil ||
		aws.ToString(described.ARN) != arn {
		t.Errorf("got %v %v", described, err)
	}
	information, err := os.Stat(filepath.Join(dir, "secrets.json"))
	if err != nil || information.Mode().Perm() != 0o600 {
		t.Errorf("got %v %v, want a file of mode 0600", information, err)
	}
	if kept, err := get(start(t, everything, keeping), "plain"); err != nil || kept != plain {
		t.Errorf("next run: got %q %v, want %q", kept, err, plain)
	}
	if other, err := get(start(t, everything, secrets.Options{}), "plain"); err != nil || other == plain {
		t.Errorf("run without a folder: got %q %v", other, err)
	}
	if _, err := get(start(t, `[{"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": "x"}]`,
		secrets.Options{}), "plain"); err == nil || !strings.Contains(err.Error(), arn) {
		t.Errorf("without a grant: got %v", err)
	}
}
