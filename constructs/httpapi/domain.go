package httpapi

import (
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// basePath is a part of what Amazon API Gateway takes in addresses as an ApiMappingKey ("Map API stages to a custom
// domain name for HTTP APIs", API Gateway developer guide).
var basePath = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)

// trustStoreURI is what "AWS::ApiGatewayV2::DomainName MutualTlsAuthentication" takes.
var trustStoreURI = regexp.MustCompile(`^s3://[a-z0-9.-]{3,63}/.+$`)

// Domain is a domain name of an API.
type Domain struct {
	// Name is the domain name, such as "api.example.com". Its DNS record has to point to the regional domain name of
	// [API.Domain]. Default: none.
	Name string
	// CertificateARN or Certificate is the certificate of AWS Certificate Manager for it,
	// in the region of the API. One of the two is required with Name.
	CertificateARN string
	Certificate    awscertificatemanager.ICertificate
	// Zone is the hosted zone of Amazon Route 53 that gets the domain name's records, for
	// IPv4 and IPv6. Default: there are no records.
	Zone awsroute53.IHostedZone
	// KeepDefaultEndpoint keeps the API reachable under the name that Amazon API Gateway gives it, too. Default: with a
	// Name it is not, so that no caller bypasses a firewall in front of the domain ("Disable the default endpoint for
	// HTTP APIs", API Gateway developer guide).
	KeepDefaultEndpoint bool
	// TrustStore has the authorities whose clients may call. Default: every client may call.
	TrustStore TrustStore
	// BasePath is the first part of the API's paths at the domain name, such as "orders" or "orders/v1". Routes and
	// handlers do not see it. Default: none, the API has all paths that no other API has there.
	BasePath string
	// Shared is the [API.Domain] of another API, or a domain name that exists, instead of Name and what comes with it:
	// each API needs a BasePath of its own there. Default: none.
	Shared awsapigatewayv2.IDomainName
}

// isSet reports whether the API has a domain name.
func (d Domain) isSet() bool { return d.Name != "" || d.Shared != nil }

// TrustStore makes callers show a certificate, too, by mutual TLS: one that an authority of the store has signed
// ("Configuring mutual TLS authentication for an HTTP API", API Gateway developer guide). Routes still require their
// tokens. API Gateway reads no list of revoked certificates.
type TrustStore struct {
	// URI is the object with the certificates of the authorities, in PEM, such as "s3://trust/authorities.pem". The
	// role that deploys needs s3:GetObject on it.
	URI string
	// Version is the object's version: a new one makes API Gateway read a changed object. Default: the version at the
	// first deployment.
	Version string
	// OwnershipCertificateARN is a public certificate of AWS Certificate Manager for the domain name, in the API's
	// region, that proves who owns it. Required if the domain's certificate was imported or is of a private authority
	// ("AWS::ApiGatewayV2::DomainName DomainNameConfiguration", OwnershipVerificationCertificateArn). A synth sees that
	// only of a certificate that the app declares. Default: none.
	OwnershipCertificateARN string
}

// Check adds a finding for each value that is invalid. name to shared are the paths of the fields. region is the API's,
// or "" while it is not known.
func (d Domain) Check(f *finding.List, name, certificate, zone, keep, trust, base, shared, region string) {
	if d.BasePath != "" {
		switch {
		case !d.isSet():
			f.Add(base, d.BasePath, "empty without a domain name", "set the domain name, or leave both out")
		case !basePath.MatchString(d.BasePath) && !props.IsToken(d.BasePath):
			f.Add(base, d.BasePath, "letters, digits, \"-\", \"_\" and \".\", in parts with \"/\" between them",
				`write it as in "orders" or "orders/v1"`)
		}
	}
	if d.Shared != nil {
		d.checkShared(f, name, certificate, zone, trust, shared)
		return
	}
	switch {
	case d.TrustStore.URI != "" && !trustStoreURI.MatchString(d.TrustStore.URI) && !props.IsToken(d.TrustStore.URI):
		f.Add(trust+".URI", d.TrustStore.URI, "an object of Amazon S3", `write it as in "s3://trust/authorities.pem"`)
	case d.TrustStore.URI != "" && (d.Name == "" || d.KeepDefaultEndpoint):
		f.Add(trust, d.TrustStore.URI, "a trust store on a domain name that is the only endpoint",
			"set a domain name, and leave KeepDefaultEndpoint out: the other endpoint asks for no certificate")
	case d.TrustStore.URI == "" && d.TrustStore != (TrustStore{}):
		f.Add(trust+".URI", "", "the trust store of the other fields", "set the URI, or leave all out")
	}
	if d.TrustStore.OwnershipCertificateARN != "" {
		props.CheckARN(f, trust+".OwnershipCertificateARN", d.TrustStore.OwnershipCertificateARN, region,
			certificateARN, "the ARN of a certificate of AWS Certificate Manager",
			"copy it from a public certificate of the domain name in the API's region")
	} else if d.TrustStore.URI != "" && ofPrivateAuthority(d.Certificate) {
		f.Add(trust+".OwnershipCertificateARN", "", "a public certificate, beside one of a private authority",
			"request one of AWS Certificate Manager for the domain name, and name it here")
	}
	if d.Name == "" {
		if d.CertificateARN != "" || d.Certificate != nil {
			f.Add(certificate, "a certificate", "none without a domain name", "set the domain name, or leave both out")
		}
		if d.Zone != nil {
			f.Add(zone, "a hosted zone", "none without a domain name", "set the domain name, or leave both out")
		}
		if d.KeepDefaultEndpoint {
			f.Add(keep, true, "false without a domain name", "there is no other endpoint then: leave it out")
		}
		return
	}
	if (!domainName.MatchString(d.Name) || len(d.Name) > longestDomain) && !props.IsToken(d.Name) {
		f.Add(name, d.Name, "a domain name in lower-case letters, without a wildcard",
			`write it as in "api.example.com"`)
	}
	if !props.IsNil(d.Zone) && !props.IsToken(d.Name) && !props.IsToken(*d.Zone.ZoneName()) &&
		d.Name != *d.Zone.ZoneName() && !strings.HasSuffix(d.Name, "."+*d.Zone.ZoneName()) {
		f.Add(zone, *d.Zone.ZoneName(), "the hosted zone of "+d.Name, "pass the zone whose name ends the domain name")
	} else {
		props.CheckResource(f, zone, d.Zone, "")
	}
	if d.Certificate != nil {
		if d.CertificateARN != "" {
			f.Add(certificate, d.CertificateARN, "empty with a Certificate", "leave one of the two out")
		}
		props.CheckResource(f, certificate, d.Certificate, region)
		return
	}
	props.CheckARN(f, certificate, d.CertificateARN, region, certificateARN,
		"the ARN of a certificate of AWS Certificate Manager",
		"copy it from the certificate of the domain name in the API's region")
}

// ofPrivateAuthority reports whether the app declares the certificate as one of AWS Private CA.
func ofPrivateAuthority(certificate awscertificatemanager.ICertificate) bool {
	if props.IsNil(certificate) || certificate.Node() == nil {
		return false
	}
	declared, ok := certificate.Node().DefaultChild().(awscertificatemanager.CfnCertificate)
	return ok && declared.CertificateAuthorityArn() != nil
}

// checkShared adds a finding for each value that belongs to the API which declares the domain name.
func (d Domain) checkShared(f *finding.List, name, certificate, zone, trust, shared string) {
	if props.IsNil(d.Shared) {
		f.Add(shared, "a nil pointer", "a domain name", "pass the Domain of the other API, or leave it out")
	}
	for _, other := range []struct {
		path string
		set  bool
	}{{name, d.Name != ""}, {certificate, d.CertificateARN != "" || d.Certificate != nil}, {zone, d.Zone != nil},
		{trust, d.TrustStore != TrustStore{}}} {
		if other.set {
			f.Add(other.path, "a value", "none with a shared domain name",
				"set it where the domain name is declared, and leave it out here")
		}
	}
}

func (a *API) addDomain(d Domain) {
	if d.Shared != nil {
		a.mapTo(d.Shared, *d.Shared.Name(), d.BasePath)
		return
	}
	certificate := d.Certificate
	if certificate == nil {
		certificate = awscertificatemanager.Certificate_FromCertificateArn(a, jsii.String("Certificate"),
			&d.CertificateARN)
	}
	a.Domain = awsapigatewayv2.NewDomainName(a, jsii.String("Domain"), &awsapigatewayv2.DomainNameProps{
		DomainName:     &d.Name,
		Certificate:    certificate,
		SecurityPolicy: awsapigatewayv2.SecurityPolicy_TLS_1_2,
	})
	if store := d.TrustStore; store.URI != "" {
		// The CDK's own property of the trust store takes a bucket of the app, and no URI.
		domain := a.Domain.Node().DefaultChild().(awsapigatewayv2.CfnDomainName)
		domain.SetMutualTlsAuthentication(&awsapigatewayv2.CfnDomainName_MutualTlsAuthenticationProperty{
			TruststoreUri: &store.URI, TruststoreVersion: props.Optional(store.Version)})
		if store.OwnershipCertificateARN != "" {
			domain.AddPropertyOverride(jsii.String("DomainNameConfigurations.0.OwnershipVerificationCertificateArn"),
				store.OwnershipCertificateARN)
		}
	}
	a.mapTo(a.Domain, d.Name, d.BasePath)
	if d.Zone == nil {
		return
	}
	target := awsroute53.RecordTarget_FromAlias(&alias{a.Domain})
	awsroute53.NewARecord(a, jsii.String("IPv4"),
		&awsroute53.ARecordProps{Zone: d.Zone, RecordName: &d.Name, Target: target})
	awsroute53.NewAaaaRecord(a, jsii.String("IPv6"),
		&awsroute53.AaaaRecordProps{Zone: d.Zone, RecordName: &d.Name, Target: target})
}

// mapTo makes a domain name, which is called name, lead to the API.
func (a *API) mapTo(domain awsapigatewayv2.IDomainName, name, base string) {
	awsapigatewayv2.NewApiMapping(a, jsii.String("Mapping"), &awsapigatewayv2.ApiMappingProps{
		Api:           a.Resource,
		DomainName:    domain,
		Stage:         a.Stage,
		ApiMappingKey: props.Optional(base),
	})
	a.url = strings.TrimSuffix("https://"+name+"/"+base, "/")
}

// alias is what records of the API's domain name point to. For the CDK's own, an importer's app would
// compile 24 packages of the CDK, for targets of other kinds.
type alias struct{ domain awsapigatewayv2.DomainName }

// Bind returns the target for AWS CloudFormation. The CDK calls it.
func (t *alias) Bind(awsroute53.IRecordSet, awsroute53.IHostedZone) *awsroute53.AliasRecordTargetConfig {
	return &awsroute53.AliasRecordTargetConfig{DnsName: t.domain.RegionalDomainName(),
		HostedZoneId: t.domain.RegionalHostedZoneId()}
}
