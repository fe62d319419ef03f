package identity_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

func TestMachinesPropsValidate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		props identity.MachinesProps
		paths []string
	}{
		"OK":          {identity.MachinesProps{Name: "asks-2", Clients: []string{"mcp", "CI_1"}}, nil},
		"ErrZero":     {identity.MachinesProps{}, []string{"Props.Name", "Props.Clients"}},
		"ErrName":     {identity.MachinesProps{Name: "Asks", Clients: []string{"a"}}, []string{"Props.Name"}},
		"ErrLong":     {identity.MachinesProps{Name: strings.Repeat("a", 17), Clients: []string{strings.Repeat("a", 65)}}, []string{"Props.Name", "Props.Clients[0]"}},
		"ErrReserved": {identity.MachinesProps{Name: "my-aws", Clients: []string{"a"}}, []string{"Props.Name"}},
		"ErrClients":  {identity.MachinesProps{Name: "a", Clients: []string{"a", "b c", "a", ""}}, []string{"Props.Clients[1]", "Props.Clients[2]", "Props.Clients[3]"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.paths, synthtest.Paths(t, test.props.Validate())); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
