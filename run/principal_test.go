package run_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// A route with IAM lets in users, and roles of the assembly and functions as far as their policies allow.
func TestPrincipals(t *testing.T) {
	t.Parallel()
	changed := template()
	properties(changed, "Route4")["AuthorizationType"] = "AWS_IAM"
	changed["Resources"].(object)["Caller"] = role("lambda.amazonaws.com",
		allow(join("arn:aws:execute-api:us-east-1:000000000000:", ref("Api"), "/$default/GET/secret"),
			"execute-api:Invoke"))
	properties(changed, "Caller")["RoleName"] = "caller"
	changed["Resources"].(object)["Other"] = role("lambda.amazonaws.com", allow("*", "execute-api:ManageConnections"))
	properties(changed, "Other")["RoleName"] = "other"
	r, _ := start(t, changed, nil)
	url := r.URL("Items")
	var environment struct{ Key string }
	if _, body := call(t, "GET", url+"/environment", ""); json.Unmarshal([]byte(body), &environment) != nil ||
		environment.Key == "" {
		t.Fatalf("got %s", body)
	}
	for key, status := range map[string]int{"billing": 200, "caller": 200, "other": 403, environment.Key: 403,
		"": 403} {
		signed, err := http.NewRequestWithContext(t.Context(), "GET", url+"/secret", nil)
		if err != nil {
			t.Fatal(err)
		}
		empty := sha256.Sum256(nil)
		by := aws.Credentials{AccessKeyID: key, SecretAccessKey: "local"}
		if err := v4.NewSigner().SignHTTP(t.Context(), by, signed, hex.EncodeToString(empty[:]), "execute-api",
			"us-east-1", time.Now()); err != nil {
			t.Fatal(err)
		}
		headers := []string{"X-Amz-Date", signed.Header.Get("X-Amz-Date")}
		if key != "" {
			headers = append(headers, "Authorization", signed.Header.Get("Authorization"))
		}
		if got, body := call(t, "GET", url+"/secret", "", headers...); got != status {
			t.Errorf("%s: got %d %s; want %d", key, got, body, status)
		}
	}
	refused := runtest.Of(r).Refused()
	if len(refused) != 1 || refused[0].Action != "execute-api:Invoke" {
		t.Errorf("roles of functions refused %v", refused)
	}
}
