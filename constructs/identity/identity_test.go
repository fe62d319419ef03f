package identity_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

func TestMachinesPropsValidate(t *testing.T) {
	t.Parallel()
	synthtest.Validate(t, map[string]synthtest.Case[identity.MachinesProps]{
		"OK":      {identity.MachinesProps{Name: "asks-2", Clients: []string{"mcp", "CI_1"}}, nil},
		"ErrZero": {identity.MachinesProps{}, []string{"Props.Name", "Props.Clients"}},
		"ErrName": {identity.MachinesProps{Name: "Asks", Clients: []string{"a"}}, []string{"Props.Name"}},
		"ErrLong": {identity.MachinesProps{Name: strings.Repeat("a", 17),
			Clients: []string{strings.Repeat("a", 65)}}, []string{"Props.Name", "Props.Clients[0]"}},
		"ErrReserved": {identity.MachinesProps{Name: "my-aws", Clients: []string{"a"}}, []string{"Props.Name"}},
		"Scopes": {identity.MachinesProps{Name: "a", Clients: []string{"a", "b"},
			Scopes: []string{"read", "write_2"}, ClientScopes: map[string][]string{"b": {"read"}, "a": nil}}, nil},
		"ErrScopes": {identity.MachinesProps{Name: "a", Clients: []string{"a"}, Scopes: []string{"call", "a/b"},
			ClientScopes: map[string][]string{"a": {"write"}, "c": nil}},
			[]string{"Props.Scopes[0]", "Props.Scopes[1]", `Props.ClientScopes["a"][0]`, `Props.ClientScopes["c"]`}},
		"ErrClients": {identity.MachinesProps{Name: "a", Clients: []string{"a", "b c", "a", ""}},
			[]string{"Props.Clients[1]", "Props.Clients[2]", "Props.Clients[3]"}},
	})
}

// many returns that many URLs.
func many(n int) []string {
	var urls []string
	for i := range n {
		urls = append(urls, fmt.Sprint("https://a.example/", i))
	}
	return urls
}

func TestUsersPropsValidate(t *testing.T) {
	t.Parallel()
	synthtest.Validate(t, map[string]synthtest.Case[identity.UsersProps]{
		"Zero": {identity.UsersProps{}, nil},
		"Pages": {identity.UsersProps{
			Name: "tasks", CallbackURLs: []string{"https://a.example/in?x=1", "http://localhost:3000/in",
				"http://localhost", "tasks://in"}, LogoutURLs: []string{"https://a.example"},
		}, nil},
		"Email": {identity.UsersProps{Email: identity.Email{From: "hello@mail.example.com"}}, nil},
		"EmailOfAll": {identity.UsersProps{
			Email: identity.Email{From: "To-Do <hello@mail.example.com>", ReplyTo: "help@example.com",
				Identity: "example.com", Region: "eu-west-1", ConfigurationSet: "mail"}}, nil},
		"EmailOfAddress": {identity.UsersProps{
			Email: identity.Email{From: "hello@example.com", Identity: "hello@example.com"}}, nil},
		"ErrEmail": {identity.UsersProps{Email: identity.Email{From: "example.com", ReplyTo: "Help <help@example.com>",
			ConfigurationSet: "a b"}},
			[]string{"Props.Email.From", "Props.Email.ReplyTo", "Props.Email.ConfigurationSet"}},
		"ErrNoFrom": {identity.UsersProps{Email: identity.Email{Identity: "example.com"}},
			[]string{"Props.Email.From"}},
		"ErrIdentity": {identity.UsersProps{Email: identity.Email{From: "hello@badexample.com",
			Identity: "example.com"}}, []string{"Props.Email.Identity"}},
		"Groups": {identity.UsersProps{Groups: []string{"admin", "staff.eu"}}, nil},
		"ErrGroups": {identity.UsersProps{Groups: []string{"admin", "a b", "admin"}},
			[]string{"Props.Groups[1]", "Props.Groups[2]"}},
		"ErrNoNameOfPages": {identity.UsersProps{Pages: true}, []string{"Props.Name"}},
		"ErrNoName":        {identity.UsersProps{CallbackURLs: []string{"https://a.example"}}, []string{"Props.Name"}},
		"ErrReserved": {identity.UsersProps{Name: "cognito", CallbackURLs: []string{"https://a.example"}},
			[]string{"Props.Name"}},
		"ErrLogout": {identity.UsersProps{LogoutURLs: []string{"https://a.example"}}, []string{"Props.LogoutURLs"}},
		"ErrOddURLs": {identity.UsersProps{
			Name: "tasks", CallbackURLs: []string{"https://a.example", "https://a.example",
				"https://a.example/" + strings.Repeat("x", 1024), "javascript:alert(1)"},
		}, []string{"Props.CallbackURLs[1]", "Props.CallbackURLs[2]", "Props.CallbackURLs[3]"}},
		"ErrManyURLs": {identity.UsersProps{Name: "tasks", CallbackURLs: many(101)}, []string{"Props.CallbackURLs"}},
		"ErrURLs": {identity.UsersProps{
			Name: "tasks", CallbackURLs: []string{"http://a.example", "http://localhost.a.example",
				"https://a.example#x", "/in", ""}, LogoutURLs: []string{"https://", "https://a b"},
		}, []string{
			"Props.CallbackURLs[0]", "Props.CallbackURLs[1]", "Props.CallbackURLs[2]", "Props.CallbackURLs[3]",
			"Props.CallbackURLs[4]",
			"Props.LogoutURLs[0]", "Props.LogoutURLs[1]",
		}},
	})
}
