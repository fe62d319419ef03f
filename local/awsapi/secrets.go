package awsapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/local/assembly"
)

type secret struct {
	resource *assembly.Resource
	created  time.Time
	value    func() (string, error)
}

// generator is AWS::SecretsManager::Secret GenerateSecretString, with the defaults of its page in the template reference.
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
var errNoValue = &apiError{
	Type:    "com.amazonaws.secretsmanager#ResourceNotFoundException",
	Message: "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT",
}

// readSecrets reads the secrets. A generated one that the former assembly has, too, keeps its value.
func (s *Server) readSecrets(next, former *served) error {
	for _, resource := range next.assembly.Resources("AWS::SecretsManager::Secret") {
		var declared struct {
			SecretString         *string
			GenerateSecretString *generator
		}
		if err := resource.Decode(&declared); err != nil {
			return err
		}
		if kept := former.secret(resource.ARN); kept != nil && declared.SecretString == nil && declared.GenerateSecretString != nil {
			next.secrets = append(next.secrets, kept)
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
		next.secrets = append(next.secrets, entry)
	}
	return nil
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
		return "", &apiError{Type: "com.amazonaws.secretsmanager#InvalidRequestException",
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
		return "", &apiError{Type: "com.amazonaws.secretsmanager#InvalidParameterException",
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

// secret finds a secret by name, ARN, or ARN without the six characters that AWS adds.
func (s *Server) secret(id string) *secret { return s.served.Load().secret(id) }

func (s *served) secret(id string) *secret {
	at := slices.IndexFunc(s.secrets, func(entry *secret) bool {
		arn := entry.resource.ARN
		return id == entry.resource.Name || id == arn || id == arn[:len(arn)-7]
	})
	if at < 0 {
		return nil
	}
	return s.secrets[at]
}

// SecretValue returns the value of a secret, by name or ARN, for the runner and for tests.
func (s *Server) SecretValue(id string) (string, error) {
	entry := s.secret(id)
	if entry == nil {
		return "", fmt.Errorf("no secret %q in the assembly", id)
	}
	return entry.value()
}

// secretVersion is the one version that a local secret has.
const secretVersion = "00000000-0000-4000-8000-000000000001"

func (s *Server) secretsManager(by *caller, operation string) func(context.Context, []byte) (any, error) {
	type input struct{ SecretId, VersionId, VersionStage string }
	find := func(id string) (*secret, error) {
		entry := s.secret(id)
		resource := id
		if entry != nil {
			resource = entry.resource.ARN
		}
		if err := s.authorise(by, "secretsmanager:"+operation, resource); err != nil {
			return nil, err
		}
		if entry == nil {
			return nil, &apiError{Type: "com.amazonaws.secretsmanager#ResourceNotFoundException", Message: "Secrets Manager can't find the specified secret."}
		}
		return entry, nil
	}
	switch operation {
	case "GetSecretValue":
		return typed(func(_ context.Context, in input) (any, error) {
			entry, err := find(in.SecretId)
			if err != nil {
				return nil, err
			}
			if in.VersionId != "" && in.VersionId != secretVersion || in.VersionStage != "" && in.VersionStage != "AWSCURRENT" {
				return nil, &apiError{Type: "com.amazonaws.secretsmanager#ResourceNotFoundException", Message: "Secrets Manager can't find the specified secret version."}
			}
			value, err := entry.value()
			if err != nil {
				return nil, err
			}
			return map[string]any{"ARN": entry.resource.ARN, "Name": entry.resource.Name, "VersionId": secretVersion, "SecretString": value,
				"VersionStages": []string{"AWSCURRENT"}, "CreatedDate": epoch(entry.created)}, nil
		})
	case "DescribeSecret":
		return typed(func(_ context.Context, in input) (any, error) {
			entry, err := find(in.SecretId)
			if err != nil {
				return nil, err
			}
			return map[string]any{"ARN": entry.resource.ARN, "Name": entry.resource.Name, "CreatedDate": epoch(entry.created),
				"VersionIdsToStages": map[string][]string{secretVersion: {"AWSCURRENT"}}}, nil
		})
	}
	return func(context.Context, []byte) (any, error) { return nil, unknown("secretsmanager", operation) }
}
