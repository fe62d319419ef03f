package cognito

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// client is an app client of a pool.
type client struct {
	id, name string
	// program says that its tokens are those of programs: it has the grant of client credentials, which excludes all
	// grants of users ("CreateUserPoolClient", Amazon Cognito API reference: AllowedOAuthFlows).
	program bool
	// code says that it has the grant of authorization codes, secret that it has a secret, and revokes that its refresh
	// tokens can be revoked.
	code, secret, revokes bool
	scopes                []string
	callbacks, logouts    []string
	// access, identity and refresh are how long its tokens are valid.
	access, identity, refresh time.Duration
	// rotates says that each use of a refresh token gives another one. The former can be tried again within grace.
	rotates bool
	grace   time.Duration
}

// units are those of TokenValidityUnits.
var units = map[string]time.Duration{"seconds": time.Second, "minutes": time.Minute, "hours": time.Hour,
	"days": 24 * time.Hour}

func (p *Pools) readClients(a *assembly.Assembly) error {
	for _, resource := range a.Resources("AWS::Cognito::UserPoolClient") {
		var declared struct {
			UserPoolId                                string
			AllowedOAuthFlows, AllowedOAuthScopes     []string
			AllowedOAuthFlowsUserPoolClient           bool
			GenerateSecret                            bool
			CallbackURLs, LogoutURLs                  []string
			EnableTokenRevocation                     *bool
			AccessTokenValidity, RefreshTokenValidity json.Number
			IdTokenValidity                           json.Number
			TokenValidityUnits                        struct{ AccessToken, RefreshToken, IdToken string }
			RefreshTokenRotation                      struct {
				Feature                 string
				RetryGracePeriodSeconds int
			}
		}
		if err := resource.Decode(&declared); err != nil {
			return err
		}
		of := p.pool(declared.UserPoolId)
		if of == nil {
			continue
		}
		read := client{id: resource.Ref, name: resource.Name,
			program: slices.Contains(declared.AllowedOAuthFlows, "client_credentials"),
			code:    declared.AllowedOAuthFlowsUserPoolClient && slices.Contains(declared.AllowedOAuthFlows, "code"),
			secret:  declared.GenerateSecret,
			// It is the default ("CreateUserPoolClient", API reference).
			revokes: declared.EnableTokenRevocation == nil || *declared.EnableTokenRevocation,
			scopes:  declared.AllowedOAuthScopes, callbacks: declared.CallbackURLs, logouts: declared.LogoutURLs,
			rotates: declared.RefreshTokenRotation.Feature == "ENABLED",
			grace:   time.Duration(declared.RefreshTokenRotation.RetryGracePeriodSeconds) * time.Second,
		}
		unit := declared.TokenValidityUnits
		var problems [3]error
		read.access, problems[0] = validity(declared.AccessTokenValidity, cmp.Or(unit.AccessToken, "hours"), time.Hour)
		read.identity, problems[1] = validity(declared.IdTokenValidity, cmp.Or(unit.IdToken, "hours"), time.Hour)
		read.refresh, problems[2] = validity(declared.RefreshTokenValidity, cmp.Or(unit.RefreshToken, "days"),
			30*24*time.Hour)
		if err := errors.Join(problems[:]...); err != nil {
			return fmt.Errorf("%s: %w", resource, err)
		}
		of.clients = append(of.clients, read)
	}
	return nil
}

// validity is how long a token is valid that has no validity otherwise.
func validity(number json.Number, unit string, otherwise time.Duration) (time.Duration, error) {
	if number == "" || number == "0" {
		return otherwise, nil
	}
	n, err := number.Int64()
	if err != nil || n < 0 || units[unit] == 0 {
		return 0, fmt.Errorf("a token is valid for %q %s: write a whole number of seconds, minutes, hours or days",
			number, unit)
	}
	return time.Duration(n) * units[unit], nil
}
