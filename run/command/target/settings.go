package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

const (
	settingsFile = "cdk.json"
	settingsAt   = "context.onesynth"
)

// Settings are the settings of local runs in an app's cdk.json, an object under the context key onesynth. Each member
// sets the flag of its name; a flag on the command line wins.
type Settings struct {
	// Stacks to run, as --stack takes them.
	Stacks []string
	// Port and ConsolePort are --port and --console-port; nil means unset.
	Port, ConsolePort *int
	// Ports are the ports of the first HTTP APIs of stacks, by the stack's name or display id.
	Ports map[string]int
	// AllowUnsupported are resource types and properties, as --allow-unsupported takes them.
	AllowUnsupported []string
	// SSMParameters are values of parameters of AWS Systems Manager that exist elsewhere, by name.
	SSMParameters map[string]string
	// Environment are variables of functions on this machine, by function.
	Environment map[string]map[string]string
}

// ReadSettings reads the cdk.json of the working folder. It returns the zero settings if the file or the key is
// missing.
func ReadSettings() (Settings, error) {
	text, err := os.ReadFile(settingsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, nil
	}
	if err != nil {
		return Settings{}, fmt.Errorf("read settings: %w", err)
	}
	read, err := parseSettings(text)
	if err != nil {
		return Settings{}, fmt.Errorf("%s: %w", settingsFile, err)
	}
	return read, nil
}

func parseSettings(text []byte) (Settings, error) {
	var file struct {
		Context struct{ Onesynth json.RawMessage }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return Settings{}, fmt.Errorf("got no JSON object as the CDK takes it: %w", err)
	}
	var read Settings
	given := bytes.TrimSpace(file.Context.Onesynth)
	if len(given) == 0 {
		return read, nil
	}
	members := map[string]struct {
		into any
		want string
	}{
		"stacks":           {&read.Stacks, `a list of stacks, such as ["Dev/*"]`},
		"port":             {&read.Port, "a port from 0 to 65535, or -1"},
		"consolePort":      {&read.ConsolePort, "a port from 0 to 65535"},
		"ports":            {&read.Ports, `an object of stacks and their ports, such as {"Dev/Ask": 9001}`},
		"allowUnsupported": {&read.AllowUnsupported, `a list of resource types, such as ["AWS::EKS::Cluster"]`},
		"ssmParameters": {&read.SSMParameters,
			`an object of names and values, such as {"/company/vpc": "vpc-0a1b2c3d"}`},
		"environment": {&read.Environment,
			`an object of functions and their variables, such as {"notesapi": {"HOTEL_WEBHOOK": "http://localhost:9000"}}`},
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(given, &object); err != nil || object == nil {
		return Settings{}, fmt.Errorf("%s: got %s: write an object with any of %s", settingsAt, given,
			strings.Join(slices.Sorted(maps.Keys(members)), ", "))
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(object)) {
		member, ok := members[name]
		if !ok {
			problems = append(problems, fmt.Errorf("%s: got %q: allowed are %s; remove or rename it", settingsAt, name,
				strings.Join(slices.Sorted(maps.Keys(members)), ", ")))
			continue
		}
		if err := json.Unmarshal(object[name], member.into); err != nil ||
			bytes.Equal(bytes.TrimSpace(object[name]), []byte("null")) {
			problems = append(problems, fmt.Errorf("%s.%s: got %s: write %s", settingsAt, name,
				bytes.TrimSpace(object[name]), member.want))
		}
	}
	return read, errors.Join(append(problems, read.checkPorts()...)...)
}

func (s Settings) checkPorts() (problems []error) {
	check := func(member string, port *int, least int) {
		if port != nil && (*port < least || *port > 65535) {
			problems = append(problems, fmt.Errorf("%s.%s: got %d: write a port from %d to 65535", settingsAt, member,
				*port, least))
		}
	}
	check("port", s.Port, -1)
	check("consolePort", s.ConsolePort, 0)
	for _, stack := range slices.Sorted(maps.Keys(s.Ports)) {
		port := s.Ports[stack]
		check("ports."+stack, &port, 0)
	}
	return problems
}
