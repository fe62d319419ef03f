package platform

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// The list in this repository can be read. Each entry is of a platform that has tests.
func TestLacks(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "emulator", "ministack.json")
	lists := readObject(t, file)
	for platform := range lists {
		if _, err := os.Stat(filepath.Join("..", platform)); err != nil {
			t.Errorf("%s lists what %s lacks, which no test is of: %v", file, platform, err)
		}
		lacking := must.Get(readLacks(file, platform))(t)
		for name, reason := range lacking.Prod {
			if reason == "" {
				t.Errorf("%s: %s has no reason", platform, name)
			}
		}
	}
	wrong := filepath.Join(t.TempDir(), "lacks.json")
	must.OK(t, os.WriteFile(wrong, []byte(`{"todo": {"products": {}}}`), 0o600))
	if _, err := readLacks(wrong, "todo"); err == nil || !strings.Contains(err.Error(), `"products"`) ||
		len(lists) == 0 {
		t.Errorf("got %v, and %d lists; want an error that names the unknown field", err, len(lists))
	}
}

// A resource is left out when the emulator has refused it, and only then.
func TestLeaveOut(t *testing.T) {
	t.Parallel()
	const stack, hash = "onesynth-todo-dev", "1111aaaa"
	assembly := t.TempDir()
	for name, content := range map[string]string{
		stack + ".template.json": `{"Resources": {"A": {"Type": "AWS::S3::Bucket"}, "B": {"Type": "AWS::X::Y"}, "C": {"Type": "AWS::X::Z"}, "D": {"Type": "AWS::X::Y"}}}`,
		stack + ".assets.json": `{"files": {"2222": {"source": {"path": "asset.2222"}}, "` + hash +
			`": {"source": {"path": "` + stack + `.template.json"}, "key": "` + hash + `.json"}}}`,
		"manifest.json": `{"url": "s3://assets/` + hash + `.json"}`,
		"asset.2222":    "code",
	} {
		must.OK(t, os.WriteFile(filepath.Join(assembly, name), []byte(content), 0o600))
	}
	read := func(folder, name string) string {
		t.Helper()
		content := must.Get(os.ReadFile(filepath.Join(folder, name)))(t)
		return string(content)
	}
	// refusing is an emulator that refuses those types by name.
	refusing := func(types ...string) func(string) (string, error) {
		return func(folder string) (string, error) {
			template := read(folder, stack+".template.json")
			for _, one := range types {
				if strings.Contains(template, one) {
					return "Unrecognized resource types: [" + one + "]", errors.New("exit status 1")
				}
			}
			return "", nil
		}
	}
	lack := map[string]string{"AWS::X::Y": "unknown", "AWS::X::Z": "unknown"}
	left := must.Get(leaveOut(t, assembly, stack, lack, refusing("AWS::X::Y", "AWS::X::Z")))(t)
	template := read(left, stack+".template.json")
	if template != `{"Resources":{"A":{"Type":"AWS::S3::Bucket"}}}` {
		t.Errorf("got %s; want the bucket alone", template)
	}
	sum := sha256.Sum256([]byte(template))
	for _, name := range []string{stack + ".assets.json", "manifest.json"} {
		if content := read(left, name); strings.Contains(content, hash) ||
			!strings.Contains(content, hex.EncodeToString(sum[:])) {
			t.Errorf("%s: got %s; want the new template's hash", name, content)
		}
	}
	if got := read(left, "asset.2222"); got != "code" {
		t.Errorf("got the asset %q; want it as it was", got)
	}
	// An alarm on an expression becomes one on its first metric.
	alarms := t.TempDir()
	for name, content := range map[string]string{
		stack + ".template.json": `{"Resources": {"A": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"Threshold": 1, "Metrics": [{"Expression": "a/b"},
			{"MetricStat": {"Metric": {"MetricName": "Count", "Namespace": "N"}, "Period": 300, "Stat": "p99"}}]}}, "B": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"MetricName": "m"}}}}`,
		stack + ".assets.json": read(assembly, stack+".assets.json"), "manifest.json": read(assembly, "manifest.json"),
	} {
		must.OK(t, os.WriteFile(filepath.Join(alarms, name), []byte(content), 0o600))
	}
	mathless := func(folder string) (string, error) {
		if strings.Contains(read(folder, stack+".template.json"), "Metrics") {
			return "AWS::CloudWatch::Alarm Properties.Metrics (metric math) is not supported",
				errors.New("exit status 1")
		}
		return "", nil
	}
	left = must.Get(leaveOut(t, alarms, stack, map[string]string{"AWS::CloudWatch::Alarm Metrics": "no expressions"},
		mathless))(t)
	const simple = `{"Resources":{"A":{"Properties":{"MetricName":"Count","Namespace":"N","Period":300,"Statistic":"Sum","Threshold":1},"Type":"AWS::CloudWatch::Alarm"},` +
		`"B":{"Properties":{"MetricName":"m"},"Type":"AWS::CloudWatch::Alarm"}}}`
	if template := read(left, stack+".template.json"); template != simple {
		t.Errorf("got %s; want %s", template, simple)
	}
	if unchanged, err := leaveOut(t, assembly, stack, nil, refusing()); err != nil || unchanged != assembly {
		t.Errorf("nothing lacks: got %s, %v; want the assembly itself", unchanged, err)
	}
	for name, test := range map[string]struct {
		lack   map[string]string
		deploy func(string) (string, error)
		want   string
	}{
		"ErrTaken": {lack, refusing("AWS::X::Y"), "the emulator takes AWS::X::Z"},
		"ErrOtherReason": {lack, func(string) (string, error) {
			return "no connection", errors.New("exit status 1")
		}, "AWS::X::Y"},
		"ErrNotThere": {map[string]string{"AWS::X::Y": "", "AWS::No::Such": ""}, refusing("AWS::X::Y"),
			"no resource of type AWS::No::Such"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := leaveOut(t, assembly, stack, test.lack, test.deploy); err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v; want an error with %q", err, test.want)
			}
		})
	}
}

func TestEmulatedURL(t *testing.T) {
	t.Parallel()
	const local = "http://127.0.0.1:4566/_aws/execute-api/fcc125ff/$default"
	for api, want := range map[string]string{
		"http://fcc125ff.execute-api.localhost:4566":                    local,
		"https://fcc125ff.execute-api.localhost.localstack.cloud:4566/": local,
		"https://fcc125ff.execute-api.eu-central-1.amazonaws.com":       local,
		"https://api.example.com":                                       "",
		"localhost":                                                     "",
		":":                                                             "",
	} {
		got, err := emulatedURL("http://127.0.0.1:4566/", api)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v; want %q", api, got, err, want)
		}
	}
}

// Client and server of the protocol come to the same key if the password is the same
// (RFC 5054, 2.5 and 2.6).
func TestSecureRemotePassword(t *testing.T) {
	t.Parallel()
	const identity, salt = "pooluser:password", "80aa01"
	a, b := big.NewInt(0).SetBytes([]byte("of the client")), big.NewInt(0).SetBytes([]byte("of the server"))
	inner := sha256.Sum256([]byte(identity))
	s, _ := new(big.Int).SetString(salt, 16)
	verifier := srpPublic(srpHash(srpBytes(s), inner[:]))
	k := srpHash(srpBytes(srpModulus), srpBytes(srpGenerator))
	B := new(big.Int).Add(new(big.Int).Mul(k, verifier), srpPublic(b))
	B.Mod(B, srpModulus)
	u := srpHash(srpBytes(srpPublic(a)), srpBytes(B))
	S := new(big.Int).Mul(srpPublic(a), new(big.Int).Exp(verifier, u, srpModulus))
	S.Exp(S, b, srpModulus)
	want := must.Get(srpDerive(S, u))(t)
	if got, err := srpKey(a, B.Text(16), salt, identity); err != nil || !slices.Equal(got, want) || len(got) != 16 {
		t.Errorf("got %x, %v; want %x", got, err, want)
	}
	if got, err := srpKey(a, B.Text(16), salt, "pooluser:another"); err != nil || slices.Equal(got, want) {
		t.Errorf("another password: got %x, %v; want another key", got, err)
	}
	for name, public := range map[string]string{"no number": "x", "zero": "0", "the modulus": srpModulus.Text(16)} {
		if _, err := srpKey(a, public, salt, identity); err == nil {
			t.Errorf("B that is %s: got no error", name)
		}
	}
	if !srpModulus.ProbablyPrime(20) || srpModulus.BitLen() != 3072 {
		t.Error("the modulus is no prime of 3072 bits")
	}
}
