package platform

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// keyARN matches the ARN of a key ("Resources defined by AWS Key Management Service", service authorization reference).
var keyARN = regexp.MustCompile(`^arn:aws[a-z-]*:kms:([a-z0-9-]+):[0-9]{12}:key/[A-Za-z0-9-]+$`)

// regionName matches the name of a region of AWS.
var regionName = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]+$`)

// checkSecrets adds a finding for each existing secret, and for each replica of secrets, that is invalid.
func (p Props) checkSecrets(f *finding.List, path, region string, described schema.Platform) {
	for _, name := range slices.Sorted(maps.Keys(p.Secrets)) {
		at := fmt.Sprintf("%s.Secrets[%q]", path, name)
		if _, ok := described.Secret(name); !ok {
			f.Add(at, name, "one of "+strings.Join(secretsOf(described), ", "), "respell it, or leave it out")
		} else if !props.CheckResource(f, at, p.Secrets[name], region) {
			if p.Secrets[name] == nil {
				f.Add(at, nil, "a secret", "pass it, or leave it out")
			}
		} else if p.Secrets[name].SecretFullArn() == nil {
			f.Add(at, *p.Secrets[name].SecretArn(), "a secret by its whole ARN, with the six characters at its end",
				"pass Secret_FromSecretCompleteArn")
		}
	}
	for _, replica := range slices.Sorted(maps.Keys(p.SecretReplicas)) {
		at := fmt.Sprintf("%s.SecretReplicas[%q]", path, replica)
		switch key := p.SecretReplicas[replica]; {
		case !regionName.MatchString(replica) || replica == region:
			f.Add(at, replica, "another region than the stack's", `name the standby's, such as "eu-west-1"`)
		case key != "":
			props.CheckARN(f, at, key, replica, keyARN, "the ARN of a key of AWS KMS, in "+replica,
				"copy it from the key that encrypts the tables' replica")
		case p.Key != nil:
			f.Add(at, "", "the ARN of a key in "+replica+", with a Key",
				"name the key that encrypts the tables' replica")
		}
	}
}

func secretsOf(described schema.Platform) []string {
	return props.Map(described.Secrets, func(s schema.Secret) string { return s.Name })
}

// checkStandby adds a finding for each part of a standby that it would not share with the other region. A stack whose
// tables have replicas is the first region's: what it shares is its own.
func (d Declaration) checkStandby(f *finding.List, described schema.Platform) {
	if !d.Standby {
		return
	}
	first := false
	for _, t := range described.Database.Tables {
		switch {
		case d.Tables.Existing[t.Name] != nil:
		case len(d.Tables.ReplicasOf(t.Name)) > 0:
			first = true
		default:
			f.Add(fmt.Sprintf("Props.Tables.Existing[%q]", t.Name), nil, "a table with Standby",
				"pass the replica of the first region's table; in the first region, set Replicas")
		}
	}
	for _, secret := range described.Secrets {
		if d.Secrets[secret.Name] == nil && d.Props.Secrets[secret.Name] == nil && len(d.SecretReplicas) == 0 {
			f.Add(fmt.Sprintf("Props.Secrets[%q]", secret.Name), nil, "a secret with Standby",
				"pass the replica of the first region's secret; in the first region, set SecretReplicas")
		}
	}
	if first || d.JWTIssuer != "" {
		return
	}
	const allowed = "the first region's with Standby: with a pool of its own, everyone would be a stranger"
	if d.UserPool == nil && d.closed(described, schema.TokenOfUser) {
		f.Add(cmp.Or(d.UserPath, "Props")+".UserPool", nil, allowed,
			"pass the first region's pool and clients, or give both stacks one JWTIssuer")
	}
	if d.closed(described, schema.TokenOfProgram) {
		f.Add("Props.JWTIssuer", "", allowed, "give both stacks one JWTIssuer, or let agents show keys")
	}
}

// closed reports whether one of the platform's routes needs such a token.
func (d Declaration) closed(of schema.Platform, token schema.Token) bool {
	return slices.ContainsFunc(of.Routes, func(r schema.Route) bool {
		return r.Caller.Token == token && !slices.Contains(d.OpenRoutes, r.Key())
	})
}
