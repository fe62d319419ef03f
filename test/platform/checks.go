package platform

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	http_helper "github.com/gruntwork-io/terratest/modules/http-helper"

	"github.com/onesynth-cdk/onesynth/internal/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

var pathParameter = regexp.MustCompile(`\{[^}]*\}`)

// PathOf returns the path of a route with some value for each parameter.
func PathOf(route schema.Route, parameter string) string {
	return pathParameter.ReplaceAllLiteralString(route.Path, parameter)
}

// CheckCORS checks that a browser may call every route with every header that the
// platform reads, and read every header that it sends, as the answer to a GET of
// path shows.
func (s *Suite) CheckCORS(t *testing.T, path string, reads, sends []string) {
	t.Helper()
	target := s.Shared(t)
	c := NewClient(t, target)
	const origin = "https://app.example.com"
	var status, origins, methods, headers []error
	for _, route := range s.Platform.Routes {
		path := PathOf(route, "x")
		r := c.MustSend(t, http.MethodOptions, path, http.Header{
			"Origin":                         {origin},
			"Access-Control-Request-Method":  {route.Method},
			"Access-Control-Request-Headers": {strings.ToLower(strings.Join(reads, ","))},
		}, nil)
		if r.Status != http.StatusOK && r.Status != http.StatusNoContent {
			status = append(status, fmt.Errorf("%s %s: got %v; want 200 or 204", route.Method, path, r))
		}
		if allowed := r.Header.Get("Access-Control-Allow-Origin"); allowed != "*" && allowed != origin {
			origins = append(origins, fmt.Errorf("%s %s: got allowed origin %q; want * or %s", route.Method, path,
				allowed, origin))
		}
		if !lists(r.Header, "Access-Control-Allow-Methods", route.Method) {
			methods = append(methods, fmt.Errorf("%s %s: got allowed methods %q", route.Method, path,
				r.Header.Get("Access-Control-Allow-Methods")))
		}
		for _, name := range reads {
			if !lists(r.Header, "Access-Control-Allow-Headers", name) {
				headers = append(headers, fmt.Errorf("%s %s: got allowed headers %q; want %s", route.Method, path,
					r.Header.Get("Access-Control-Allow-Headers"), name))
			}
		}
	}
	target.Lacking(t, "CORS: status of preflights", errors.Join(status...))
	target.Lacking(t, "CORS: allowed origin of preflights", errors.Join(origins...))
	target.Lacking(t, "CORS: allowed methods", errors.Join(methods...))
	target.Lacking(t, "CORS: allowed headers", errors.Join(headers...))

	r := c.MustSend(t, http.MethodGet, path, http.Header{"Origin": {origin}}, nil)
	var exposed []error
	for _, name := range sends {
		if !lists(r.Header, "Access-Control-Expose-Headers", name) {
			exposed = append(exposed, fmt.Errorf("GET %s: got exposed headers %q; want %s", path,
				r.Header.Get("Access-Control-Expose-Headers"), name))
		}
	}
	target.Lacking(t, "CORS: exposed headers", errors.Join(exposed...))
	var foreign error
	if allowed := r.Header.Get("Access-Control-Allow-Origin"); allowed != "*" && allowed != origin {
		foreign = fmt.Errorf("GET %s: got %v with allowed origin %q; want * or %s", path, r, allowed, origin)
	}
	target.Lacking(t, "CORS: allowed origin of answers", foreign)
}

func lists(header http.Header, name, value string) bool {
	return slices.ContainsFunc(strings.Split(header.Get(name), ","), func(listed string) bool {
		listed = strings.TrimSpace(listed)
		return listed == "*" || strings.EqualFold(listed, value)
	})
}

// CheckDocument checks that the OpenAPI document at path describes the routes that
// are declared, and no others.
func (s *Suite) CheckDocument(t *testing.T, path string) {
	t.Helper()
	status, body := http_helper.HTTPGetContext(t, t.Context(), s.Shared(t).URL+path, nil)
	if status != http.StatusOK {
		t.Fatalf("got %d: %.300s", status, body)
	}
	if written := s.of(t, "dev").Document(t); body != string(written) {
		t.Errorf("the function answers with another document than the synth has written:\n%.300s\nwant\n%.300s", body,
			written)
	}
	var document struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			Responses map[string]any
		}
	}
	must.OK(t, json.Unmarshal([]byte(body), &document))
	if !strings.HasPrefix(document.OpenAPI, "3.") {
		t.Errorf("got OpenAPI %q; want 3", document.OpenAPI)
	}
	var described, declared []string
	for path, operations := range document.Paths {
		for method, operation := range operations {
			described = append(described, strings.ToUpper(method)+" "+path)
			if len(operation.Responses) < 2 {
				t.Errorf("%s %s: got responses %v; want success and errors", method, path,
					slices.Sorted(maps.Keys(operation.Responses)))
			}
		}
	}
	for _, route := range s.Platform.Operations() {
		declared = append(declared, route.Key())
	}
	slices.Sort(described)
	slices.Sort(declared)
	if !slices.Equal(described, declared) {
		t.Errorf("the document describes\n%v\nand the schema declares\n%v", described, declared)
	}
}

// checkTables checks that the engine's descriptions of the tables match the schema.
func (s *Suite) checkTables(t *testing.T) {
	target := s.Shared(t)
	if len(target.Tables) != len(s.Platform.Database.Tables) {
		t.Errorf("got tables %v; want %d", target.Tables, len(s.Platform.Database.Tables))
	}
	for _, want := range s.Platform.Database.Tables {
		t.Run(want.Name, func(t *testing.T) {
			described := must.Get(target.Database.DescribeTable(t.Context(),
				&dynamodb.DescribeTableInput{TableName: aws.String(target.Tables[want.Name])}))(t)
			got := described.Table
			if key := keyOf(got.KeySchema); key != strings.Join(want.Key.Attributes(), " ") {
				t.Errorf("got key %q; want %v", key, want.Key.Attributes())
			}
			stream := ""
			if got.StreamSpecification != nil && aws.ToBool(got.StreamSpecification.StreamEnabled) {
				stream = string(got.StreamSpecification.StreamViewType)
			}
			if stream != string(want.Stream) {
				t.Errorf("got stream %q; want %q", stream, want.Stream)
			}
			indexes := map[string]string{}
			for _, index := range want.Indexes {
				indexes[index.Name] = strings.Join(index.Key.Attributes(), " ") + " " +
					cmp.Or(string(index.Projection), "ALL")
			}
			for _, index := range got.GlobalSecondaryIndexes {
				if description := fmt.Sprint(keyOf(index.KeySchema), " ",
					index.Projection.ProjectionType); description != indexes[*index.IndexName] {
					t.Errorf("index %s: got %q; want %q", *index.IndexName, description, indexes[*index.IndexName])
				}
				delete(indexes, *index.IndexName)
			}
			if len(indexes) > 0 {
				t.Errorf("the indexes %v are missing", indexes)
			}
			if len(want.Indexes) > 0 {
				target.Lacking(t, "status of indexes", active(got.GlobalSecondaryIndexes))
			}
			for _, attribute := range got.AttributeDefinitions {
				declared, _ := want.Attribute(*attribute.AttributeName)
				if !strings.HasPrefix(string(declared.Type), string(attribute.AttributeType)) {
					t.Errorf("attribute %s: got type %s; want %s", *attribute.AttributeName, attribute.AttributeType,
						declared.Type)
				}
			}
			var failure error
			if got := target.TimeToLive(t, want.Name); got != want.TimeToLive {
				failure = fmt.Errorf("got TTL attribute %q; want %q", got, want.TimeToLive)
			}
			if want.TimeToLive != "" {
				target.Lacking(t, "time to live", failure)
			} else if failure != nil {
				t.Error(failure)
			}
		})
	}
}

func active(indexes []types.GlobalSecondaryIndexDescription) error {
	for _, index := range indexes {
		if index.IndexStatus != types.IndexStatusActive {
			return fmt.Errorf("index %s: got status %q; want ACTIVE", *index.IndexName, index.IndexStatus)
		}
	}
	return nil
}

func keyOf(schema []types.KeySchemaElement) string {
	key := *schema[0].AttributeName
	if len(schema) > 1 {
		key += " " + *schema[1].AttributeName
	}
	return key
}

// checkExpiry checks that the expired items of every table are deleted, and no others.
func (s *Suite) checkExpiry(t *testing.T) {
	target := s.Shared(t)
	target.LocalOnly(t, "DynamoDB deletes expired items within days")
	for _, table := range s.Platform.Database.Tables {
		t.Run(table.Name, func(t *testing.T) {
			put := func(expires any) []string {
				t.Helper()
				item := map[string]any{}
				var key []string
				for _, attribute := range []string{table.Key.Partition, table.Key.Sort} {
					if attribute != "" {
						value := onesynthtest.Unique("expiry")
						item[attribute] = value
						key = append(key, attribute, value)
					}
				}
				if expires != nil {
					item[table.TimeToLive] = expires
				}
				encoded := must.Get(attributevalue.MarshalMap(item))(t)
				must.Get(target.Database.PutItem(t.Context(),
					&dynamodb.PutItemInput{TableName: aws.String(target.Tables[table.Name]),
						Item: encoded}))(t)
				return key
			}
			type kept struct {
				key  []string
				stay bool
			}
			items := map[string]kept{"without a time": {put(nil), true}}
			if table.TimeToLive != "" {
				items["expired"] = kept{put(time.Now().Add(-time.Minute).Unix()), false}
				items["of later"] = kept{put(time.Now().Add(time.Hour).Unix()), true}
				// DynamoDB keeps what is five years past ("Using time to live", developer guide).
				items["of no time"] = kept{put("yesterday"), true}
			}
			must.Get(target.Run.Sweep(t.Context()))(t)
			for name, item := range items {
				if stayed := target.Item(t, table.Name, item.key...) != nil; stayed != item.stay {
					t.Errorf("the item %s: stayed: %v; want %v", name, stayed, item.stay)
				}
				target.Delete(t, table.Name, item.key...)
			}
		})
	}
}

// CheckTokens checks that a run accepts only valid tokens on the routes, methods with their paths.
// headers go with every request.
func (s *Suite) CheckTokens(t *testing.T, target *Target, headers http.Header, routes ...string) {
	t.Helper()
	c := NewClient(t, target)
	valid := target.Token(t, map[string]any{"sub": onesynthtest.Unique("caller")})
	header, rest, _ := strings.Cut(valid, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	other := target.Token(t, map[string]any{"sub": onesynthtest.Unique("caller")})
	_, otherRest, _ := strings.Cut(other, ".")
	otherPayload, _, _ := strings.Cut(otherRest, ".")
	const none = "eyJhbGciOiJub25lIn0" // {"alg":"none"}
	for name, authorization := range map[string]string{
		"Missing":     "",
		"Nonsense":    "Bearer nonsense",
		"OtherScheme": "Basic " + valid,
		"Expired":     "Bearer " + target.Token(t, map[string]any{"sub": "caller", "expires": "-1h"}),
		"OtherAudience": "Bearer " + target.Token(t,
			map[string]any{"sub": "caller", "claims": map[string]any{"aud": "another", "client_id": "another"}}),
		"OtherIssuer": "Bearer " + target.Token(t,
			map[string]any{"sub": "caller", "claims": map[string]any{"iss": "https://issuer.example.com"}}),
		"NotYet": "Bearer " + target.Token(t,
			map[string]any{"sub": "caller", "claims": map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}}),
		"OtherSignature": "Bearer " + header + "." + payload + "." + strings.Repeat("A", len(signature)),
		"OtherSubject":   "Bearer " + header + "." + otherPayload + "." + signature,
		"Unsigned":       "Bearer " + header + "." + payload + ".",
		"None":           "Bearer " + none + "." + payload + ".",
		"NoneSigned":     "Bearer " + none + "." + payload + "." + signature,
	} {
		t.Run(name, func(t *testing.T) {
			for _, route := range routes {
				method, path := onesynthtest.Split(route)
				with := headers.Clone()
				if with == nil {
					with = http.Header{}
				}
				if authorization != "" {
					with.Set("Authorization", authorization)
				}
				r := c.MustSend(t, method, path, with, nil)
				var body struct{ Message string }
				if err := json.Unmarshal(r.Body, &body); r.Status != http.StatusUnauthorized || err != nil ||
					body.Message != "Unauthorized" {
					t.Errorf("got %v; want 401 Unauthorized", r)
				}
			}
		})
	}
}

// Protected returns the routes of the platform that any user or any program with a token may call, for CheckTokens.
func (s *Suite) Protected() []string {
	var routes []string
	for _, route := range s.Platform.Routes {
		anyProgram := route.Caller.Token == schema.TokenOfProgram && route.Caller.Scope == ""
		if route.Caller == schema.CallerUser || anyProgram {
			routes = append(routes, route.Method+" "+PathOf(route, "x"))
		}
	}
	return routes
}
