// Package secrets is AWS Secrets Manager at the endpoint of functions, with the secrets that an assembly declares.
package secrets

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

type secret struct {
	resource *assembly.Resource
	created  time.Time
	value    func() (string, error)
}

// generator is AWS::SecretsManager::Secret GenerateSecretString, with the defaults of its page in the template
// reference.
type generator struct {
	ExcludeCharacters       string
	ExcludeLowercase        bool
	ExcludeNumbers          bool
	ExcludePunctuation      bool
	ExcludeUppercase        bool
	GenerateStringKey       string
	IncludeSpace            bool
	PasswordLength          *int
	RequireEachIncludedType *bool
	SecretStringTemplate    string
}

// errNoValue is a secret that was declared without a value.
var errNoValue = &aws.Failure{
	Type:    "com.amazonaws.secretsmanager#ResourceNotFoundException",
	Message: "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT",
}

// Options of the service. The zero value makes new values in each run.
type Options struct {
	// Dir is a folder that keeps generated secrets between runs (secrets.json, mode 0600). Default: each run makes new
	// ones.
	Dir string
	// ServiceAccount makes a Google service account key, as downloaded from Google, out of a secret's template whose
	// type is service_account. Default: such a secret is generated like any other.
	ServiceAccount func(template string) (string, error)
}

// Store holds the secrets. Make one with New.
type Store struct {
	aws.Operations
	options Options
	kept    *keptSecrets
	// declared are those of the assembly. Apply replaces them.
	declared atomic.Pointer[[]*secret]
}

// New reads what is kept. An error says that it cannot be read.
func New(options Options) (*Store, error) {
	s := &Store{options: options, kept: &keptSecrets{values: map[string]string{}}}
	s.declared.Store(&[]*secret{})
	s.Operations = s.operations()
	if options.Dir == "" {
		return s, nil
	}
	s.kept.path = filepath.Join(options.Dir, "secrets.json")
	return s, s.kept.read()
}

// Prepare reads the secrets of an assembly. What it returns makes the service serve them. A generated one that the
// former assembly has, too, keeps its value.
func (s *Store) Prepare(source *assembly.Assembly) (apply func(), err error) {
	next := []*secret{}
	for _, resource := range source.Resources("AWS::SecretsManager::Secret") {
		var declared struct {
			SecretString         *string
			GenerateSecretString *generator
		}
		if err := resource.Decode(&declared); err != nil {
			return nil, err
		}
		if kept := s.find(resource.ARN); kept != nil && declared.SecretString == nil &&
			declared.GenerateSecretString != nil {
			next = append(next, kept)
			continue
		}
		entry := &secret{resource: resource, created: time.Now()}
		// The first request makes it: an RSA key takes long, and the run is ready without it.
		entry.value = sync.OnceValues(func() (string, error) {
			switch {
			case declared.SecretString != nil:
				return *declared.SecretString, nil
			case declared.GenerateSecretString == nil:
				return "", errNoValue
			}
			var template struct{ Type string }
			_ = json.Unmarshal([]byte(declared.GenerateSecretString.SecretStringTemplate), &template)
			if template.Type == "service_account" && s.options.ServiceAccount != nil {
				return s.options.ServiceAccount(declared.GenerateSecretString.SecretStringTemplate)
			}
			return s.kept.value(resource.Stack.Name+"/"+resource.LogicalID, declared.GenerateSecretString.make)
		})
		next = append(next, entry)
	}
	return func() { s.declared.Store(&next) }, nil
}

// keptSecrets keeps generated values between runs when it has a path.
type keptSecrets struct {
	mutex  sync.Mutex
	path   string
	values map[string]string
}

func (k *keptSecrets) read() error {
	text, err := os.ReadFile(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("kept secrets: %w", err)
	}
	if err := json.Unmarshal(text, &k.values); err != nil {
		return fmt.Errorf("kept secrets: %s: %w: mend or remove the file", k.path, err)
	}
	return nil
}

func (k *keptSecrets) value(name string, generate func() (string, error)) (string, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if value, ok := k.values[name]; ok {
		return value, nil
	}
	value, err := generate()
	if err != nil {
		return "", err
	}
	k.values[name] = value
	if k.path == "" {
		return value, nil
	}
	text, err := json.MarshalIndent(k.values, "", "  ")
	if err != nil {
		return "", fmt.Errorf("keep secret: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
		return "", fmt.Errorf("keep secret: %w", err)
	}
	if err := os.WriteFile(k.path+".new", text, 0o600); err != nil {
		return "", fmt.Errorf("keep secret: %w", err)
	}
	if err := os.Rename(k.path+".new", k.path); err != nil {
		return "", fmt.Errorf("keep secret: %w", err)
	}
	return value, nil
}

func (g *generator) make() (string, error) {
	password, err := g.password()
	if err != nil {
		return "", err
	}
	if g.SecretStringTemplate == "" && g.GenerateStringKey == "" {
		return password, nil
	}
	members := map[string]any{}
	if err := json.Unmarshal([]byte(g.SecretStringTemplate), &members); err != nil || g.GenerateStringKey == "" {
		return "", &aws.Failure{Type: "com.amazonaws.secretsmanager#InvalidRequestException",
			Message: "SecretStringTemplate must be a JSON object and stand together with GenerateStringKey"}
	}
	members[g.GenerateStringKey] = password
	text, err := json.Marshal(members)
	return string(text), err
}

func (g *generator) password() (string, error) {
	classes := []string{}
	for _, class := range []struct {
		letters string
		left    bool
	}{
		{"abcdefghijklmnopqrstuvwxyz", g.ExcludeLowercase},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZ", g.ExcludeUppercase},
		{"0123456789", g.ExcludeNumbers},
		{"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", g.ExcludePunctuation},
		{" ", !g.IncludeSpace},
	} {
		letters := strings.Map(func(letter rune) rune {
			if strings.ContainsRune(g.ExcludeCharacters, letter) {
				return -1
			}
			return letter
		}, class.letters)
		if !class.left && letters != "" {
			classes = append(classes, letters)
		}
	}
	length := 32
	if g.PasswordLength != nil {
		length = *g.PasswordLength
	}
	each := g.RequireEachIncludedType == nil || *g.RequireEachIncludedType
	if len(classes) == 0 || length < 1 || length > 4096 || each && length < len(classes) {
		return "", &aws.Failure{Type: "com.amazonaws.secretsmanager#InvalidParameterException",
			Message: fmt.Sprintf("a password of length %d cannot be made of the characters that are left", length)}
	}
	all := strings.Join(classes, "")
	password := make([]byte, length)
	for i := range password {
		from := all
		if each && i < len(classes) {
			from = classes[i]
		}
		at, err := randomBelow(len(from))
		if err != nil {
			return "", err
		}
		password[i] = from[at]
	}
	for i := len(password) - 1; i > 0; i-- {
		j, err := randomBelow(i + 1)
		if err != nil {
			return "", err
		}
		password[i], password[j] = password[j], password[i]
	}
	return string(password), nil
}

func randomBelow(limit int) (int, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(limit)))
	if err != nil {
		return 0, fmt.Errorf("random number: %w", err)
	}
	return int(n.Int64()), nil
}

// find finds a secret by name, ARN, or ARN without the six characters that AWS adds.
func (s *Store) find(id string) *secret {
	for _, entry := range *s.declared.Load() {
		if arn := entry.resource.ARN; id == entry.resource.Name || id == arn || id == arn[:len(arn)-7] {
			return entry
		}
	}
	return nil
}

// secretVersion is the one version that a local secret has.
const secretVersion = "00000000-0000-4000-8000-000000000001"

type input struct{ SecretId, VersionId, VersionStage string }

func (s *Store) operations() aws.Operations {
	operation := func(serve func(*secret, input) (any, error)) aws.Operation {
		return aws.Typed(func(call *aws.Call, in input) ([]aws.Permission, error) {
			needed := aws.Permission{Action: "secretsmanager:" + call.Operation, Resource: in.SecretId}
			if entry := s.find(in.SecretId); entry != nil {
				needed.Resource = entry.resource.ARN
			}
			return []aws.Permission{needed}, nil
		}, func(_ *aws.Call, in input) (any, error) {
			entry := s.find(in.SecretId)
			if entry == nil {
				return nil, &aws.Failure{Type: "com.amazonaws.secretsmanager#ResourceNotFoundException",
					Message: "Secrets Manager can't find the specified secret."}
			}
			return serve(entry, in)
		})
	}
	return aws.Operations{
		"GetSecretValue": operation(func(entry *secret, in input) (any, error) {
			if in.VersionId != "" && in.VersionId != secretVersion ||
				in.VersionStage != "" && in.VersionStage != "AWSCURRENT" {
				return nil, &aws.Failure{Type: "com.amazonaws.secretsmanager#ResourceNotFoundException",
					Message: "Secrets Manager can't find the specified secret version."}
			}
			value, err := entry.value()
			if err != nil {
				return nil, err
			}
			return map[string]any{"ARN": entry.resource.ARN, "Name": entry.resource.Name, "VersionId": secretVersion,
				"SecretString":  value,
				"VersionStages": []string{"AWSCURRENT"}, "CreatedDate": aws.Epoch(entry.created)}, nil
		}),
		"DescribeSecret": operation(func(entry *secret, _ input) (any, error) {
			return map[string]any{"ARN": entry.resource.ARN, "Name": entry.resource.Name,
				"CreatedDate":        aws.Epoch(entry.created),
				"VersionIdsToStages": map[string][]string{secretVersion: {"AWSCURRENT"}}}, nil
		}),
	}
}
