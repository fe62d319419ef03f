package assembly

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"strings"

	"github.com/google/uuid"
)

type support int

const (
	unsupported support = iota
	// accepted types have no behaviour on a laptop, and no program notices.
	accepted
	// neighbour types have no effect on a laptop either, and people may notice.
	neighbour
	running
)

type (
	give     func(*Resource) (string, error)
	giveList func(*Resource) []any
)

// typeEntry says what a resource type is called and what references to it give, from the "Return values" section of the
// type's page in the CloudFormation template reference.
type typeEntry struct {
	support support
	// nameProperty is the property that sets the physical name; a dot leads into an object.
	nameProperty string
	// naming are further properties in the ARN.
	naming []string
	// limit is the longest physical name; 0 means 255.
	limit int
	// lower says that names are lower case.
	lower bool
	// addressed types have a URL on this machine.
	addressed  bool
	ref        give
	arn        give
	attributes map[string]give
	// lists are attributes that are lists of texts.
	lists map[string]giveList
}

// arn gives an ARN of a service, made from the resource's name.
func arn(service, prefix string) give {
	return func(r *Resource) (string, error) {
		return fmt.Sprintf("arn:aws:%s:%s:%s:%s%s", service, r.Stack.Region, r.Stack.Account, prefix, r.Name), nil
	}
}

func iamARN(prefix string) give {
	return func(r *Resource) (string, error) {
		path := r.naming["Path"]
		if path == "" {
			path = "/"
		}
		return fmt.Sprintf("arn:aws:iam::%s:%s%s%s", r.Stack.Account, prefix, path, r.Name), nil
	}
}

func name(r *Resource) (string, error)   { return r.Name, nil }
func ownARN(r *Resource) (string, error) { return r.ARN, nil }
func ref(r *Resource) (string, error)    { return r.Ref, nil }

// id gives an identifier as AWS makes them up, but the same one in every run.
func id(size int) give {
	return func(r *Resource) (string, error) { return identifier(r, size), nil }
}

func identifier(r *Resource, size int) string {
	sum := sha256.Sum256([]byte(r.Stack.Name + "/" + r.LogicalID))
	text := new(big.Int).SetBytes(sum[:]).Text(36)
	return text[len(text)-size:]
}

// uuidOf is the same in every run.
func uuidOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	sum[6] = sum[6]&0x0f | 0x40
	sum[8] = sum[8]&0x0f | 0x80
	return uuid.UUID(sum[:16]).String()
}

func generatedName(name string, entry typeEntry) string {
	limit := entry.limit
	if limit == 0 {
		limit = 255
	}
	if len(name) > limit {
		sum := sha256.Sum256([]byte(name))
		name = name[:limit-9] + "-" + hex.EncodeToString(sum[:4])
	}
	if entry.lower {
		name = strings.ToLower(name)
	}
	return name
}

func streamARN(r *Resource) (string, error) {
	if _, ok := r.raw["StreamSpecification"]; !ok {
		return "", errors.New("the table has no StreamSpecification: give it a stream view")
	}
	// AWS ends the ARN with the time at which the stream was created. A local run has one stream per table.
	return r.ARN + "/stream/1970-01-01T00:00:00.000", nil
}

func tableEntry() typeEntry {
	return typeEntry{support: running, nameProperty: "TableName", arn: arn("dynamodb", "table/"),
		attributes: map[string]give{
			"Arn": ownARN, "StreamArn": streamARN,
			"TableId": func(r *Resource) (string, error) { return uuidOf(r.ARN), nil },
		}}
}

func queueURL(r *Resource) (string, error) {
	base := r.url
	if base == "" {
		base = fmt.Sprintf("https://sqs.%s.amazonaws.com", r.Stack.Region)
	}
	return fmt.Sprintf("%s/%s/%s", base, r.Stack.Account, r.Name), nil
}

func apiEndpoint(r *Resource) (string, error) {
	if r.url != "" {
		return r.url, nil
	}
	return fmt.Sprintf("https://%s.execute-api.%s.amazonaws.com", r.Ref, r.Stack.Region), nil
}

func userPoolID(r *Resource) (string, error) {
	return r.Stack.Region + "_" + identifier(r, 9), nil
}

func providerName(r *Resource) (string, error) {
	pool, err := userPoolID(r)
	return fmt.Sprintf("cognito-idp.%s.amazonaws.com/%s", r.Stack.Region, pool), err
}

// providerURL is AWS's own on a laptop, too: tokens have it as their issuer.
func providerURL(r *Resource) (string, error) {
	provider, err := providerName(r)
	return "https://" + provider, err
}

func scheduleARN(r *Resource) (string, error) {
	group := r.naming["GroupName"]
	if group == "" {
		group = "default"
	}
	return fmt.Sprintf("arn:aws:scheduler:%s:%s:schedule/%s/%s", r.Stack.Region, r.Stack.Account, group, r.Name), nil
}

// eventBus is that of a rule, by its name.
func eventBus(r *Resource) string {
	bus := cmp.Or(r.naming["EventBusName"], "default")
	return bus[strings.LastIndex(bus, "/")+1:]
}

func ruleRef(r *Resource) (string, error) {
	if bus := eventBus(r); bus != "default" {
		return bus + "|" + r.Name, nil
	}
	return r.Name, nil
}

func ruleARN(r *Resource) (string, error) {
	path := r.Name
	if bus := eventBus(r); bus != "default" {
		path = bus + "/" + r.Name
	}
	return fmt.Sprintf("arn:aws:events:%s:%s:rule/%s", r.Stack.Region, r.Stack.Account, path), nil
}

// tableOfCatalogARN is described in "Resource ARNs" of the AWS Glue Developer Guide.
func tableOfCatalogARN(r *Resource) (string, error) {
	return fmt.Sprintf("arn:aws:glue:%s:%s:table/%s/%s", r.Stack.Region, r.Stack.Account, r.naming["DatabaseName"],
		r.Name), nil
}

func globalARN(service string) give {
	return func(r *Resource) (string, error) { return "arn:aws:" + service + ":::" + r.Name, nil }
}

func domain(format string) give {
	return func(r *Resource) (string, error) {
		return strings.NewReplacer("NAME", r.Name, "REGION", r.Stack.Region).Replace(format), nil
	}
}

// of gives a property that naming has.
func of(property string) give {
	return func(r *Resource) (string, error) { return r.naming[property], nil }
}

// fixed gives the same text for all resources of a type.
func fixed(text string) give {
	return func(*Resource) (string, error) { return text, nil }
}

// partOfNetwork gives an id as Amazon EC2 makes them up.
func partOfNetwork(prefix string) give {
	return func(r *Resource) (string, error) { return prefix + "-" + identifier(r, 17), nil }
}

// network is a type of a part of a network: ids with the prefix, which Ref and the named attribute give. In a
// local run the machine's network is the only one.
func network(prefix, attribute string) typeEntry {
	return typeEntry{support: accepted, ref: partOfNetwork(prefix), attributes: map[string]give{attribute: ref}}
}

func (t typeEntry) with(attributes map[string]give, naming ...string) typeEntry {
	maps.Copy(t.attributes, attributes)
	t.naming = naming
	return t
}

func (t typeEntry) withLists(lists map[string]giveList) typeEntry {
	t.lists = lists
	return t
}

// publicAddress is one of those that are kept for documentation (RFC 5737).
func publicAddress(r *Resource) (string, error) {
	sum := sha256.Sum256([]byte(r.Stack.Name + "/" + r.LogicalID))
	return fmt.Sprintf("203.0.113.%d", sum[0]), nil
}

// ipv6Blocks are of the addresses that are kept for documentation (RFC 3849). A network without IPv6 has none on AWS,
// and nothing in its template asks for them.
func ipv6Blocks(r *Resource) []any {
	sum := sha256.Sum256([]byte(r.Stack.Name + "/" + r.LogicalID))
	return []any{fmt.Sprintf("2001:db8:%x:%x00::/56", sum[:2], sum[2:3])}
}

// destination is where a route leads.
func destination(r *Resource) (string, error) {
	return cmp.Or(r.naming["DestinationCidrBlock"], r.naming["DestinationIpv6CidrBlock"]), nil
}

// gatewayAttachment is the kind of gateway that is attached to a VPC.
func gatewayAttachment(r *Resource) (string, error) {
	if _, ok := r.raw["VpnGatewayId"]; ok {
		return "VGW", nil
	}
	return "IGW", nil
}

// endpointNames are the domain names of an interface endpoint, with their hosted zones; other endpoints have none.
func endpointNames(r *Resource) []any {
	if r.raw["VpcEndpointType"] != "Interface" {
		return []any{}
	}
	service := r.naming["ServiceName"]
	service = service[strings.LastIndex(service, ".")+1:]
	return []any{fmt.Sprintf("Z%s:%s.%s.%s.vpce.amazonaws.com", strings.ToUpper(identifier(r, 13)), r.Ref, service,
		r.Stack.Region)}
}

// endpointInterfaces are the ids of an interface endpoint's network interfaces.
func endpointInterfaces(r *Resource) []any {
	subnets, _ := r.raw["SubnetIds"].([]any)
	interfaces := []any{}
	for i := range subnets {
		interfaces = append(interfaces, fmt.Sprintf("eni-%s%d", identifier(r, 16), i))
	}
	return interfaces
}

var types = map[string]typeEntry{
	"AWS::DynamoDB::Table":       tableEntry(),
	"AWS::DynamoDB::GlobalTable": tableEntry(),

	"AWS::Lambda::Function": {support: running, nameProperty: "FunctionName", limit: 64,
		arn:        arn("lambda", "function:"),
		attributes: map[string]give{"Arn": ownARN}},
	// A run has only the newest code: versions and aliases are $LATEST.
	"AWS::Lambda::Version": {support: running, naming: []string{"FunctionName"}, arn: qualified(fixed(functionVersion)),
		ref:        ownARN,
		attributes: map[string]give{"FunctionArn": ownARN, "Version": fixed(functionVersion)}},
	"AWS::Lambda::Alias": {support: running, nameProperty: "Name", naming: []string{"FunctionName"}, limit: 128,
		arn: qualified(name), ref: ownARN,
		attributes: map[string]give{"AliasArn": ownARN}},
	"AWS::Lambda::Permission": {support: running, ref: id(12), attributes: map[string]give{"Id": id(12)}},
	"AWS::Lambda::EventSourceMapping": {support: running,
		ref:        func(r *Resource) (string, error) { return uuidOf(r.Stack.Name + "/" + r.LogicalID), nil },
		attributes: map[string]give{"Id": ref}},
	"AWS::Lambda::EventInvokeConfig": {support: running},

	"AWS::ApiGatewayV2::Api": {support: running, addressed: true, ref: id(10),
		attributes: map[string]give{"ApiEndpoint": apiEndpoint, "ApiId": ref}},
	"AWS::ApiGatewayV2::Stage":       {support: running, nameProperty: "StageName"},
	"AWS::ApiGatewayV2::Route":       {support: running, ref: id(7), attributes: map[string]give{"RouteId": ref}},
	"AWS::ApiGatewayV2::Integration": {support: running, ref: id(7), attributes: map[string]give{"IntegrationId": ref}},
	"AWS::ApiGatewayV2::Authorizer":  {support: running, ref: id(6), attributes: map[string]give{"AuthorizerId": ref}},
	// A local run serves the API on its port, below the base path of its mapping; domain names have no effect.
	"AWS::ApiGatewayV2::DomainName": {support: accepted, nameProperty: "DomainName",
		arn: arn("apigateway", "/domainnames/"), attributes: map[string]give{
			"DomainNameArn":        ownARN,
			"RegionalDomainName":   domain("d-NAME.execute-api.REGION.amazonaws.com"),
			"RegionalHostedZoneId": id(14)}},
	"AWS::ApiGatewayV2::ApiMapping": {support: running, ref: id(6), attributes: map[string]give{"ApiMappingId": ref}},
	"AWS::ApiGatewayV2::Deployment": {support: accepted, ref: id(6), attributes: map[string]give{"DeploymentId": ref}},

	"AWS::Scheduler::Schedule": {support: running, nameProperty: "Name", naming: []string{"GroupName"}, limit: 64,
		arn:        scheduleARN,
		attributes: map[string]give{"Arn": ownARN}},
	"AWS::Scheduler::ScheduleGroup": {support: running, nameProperty: "Name", limit: 64,
		arn:        arn("scheduler", "schedule-group/"),
		attributes: map[string]give{"Arn": ownARN}},

	"AWS::Events::Rule": {support: running, nameProperty: "Name", naming: []string{"EventBusName"}, limit: 64,
		ref: ruleRef, arn: ruleARN,
		attributes: map[string]give{"Arn": ownARN, "RuleName": name}},
	"AWS::Events::EventBus": {support: running, nameProperty: "Name", arn: arn("events", "event-bus/"),
		attributes: map[string]give{"Arn": ownARN, "Name": name}},

	"AWS::SQS::Queue": {support: running, nameProperty: "QueueName", limit: 80, addressed: true, ref: queueURL,
		arn:        arn("sqs", ""),
		attributes: map[string]give{"Arn": ownARN, "QueueName": name, "QueueUrl": ref}},
	"AWS::SQS::QueuePolicy": {support: accepted, ref: id(12), attributes: map[string]give{"Id": ref}},

	"AWS::SecretsManager::Secret": {support: running, nameProperty: "Name",
		// AWS ends a secret's ARN with six random characters.
		arn: func(r *Resource) (string, error) {
			return fmt.Sprintf("arn:aws:secretsmanager:%s:%s:secret:%s-%s", r.Stack.Region, r.Stack.Account, r.Name,
				identifier(r, 6)), nil
		},
		ref: ownARN, attributes: map[string]give{"Id": ownARN}},
	"AWS::SecretsManager::ResourcePolicy": {support: accepted},

	"AWS::SSM::Parameter": {support: running, nameProperty: "Name", naming: []string{"Type", "Value"}, limit: 2048,
		arn:        parameterARN,
		attributes: map[string]give{"Arn": ownARN, "Type": of("Type"), "Value": of("Value")}},

	"AWS::IAM::Role": {support: running, nameProperty: "RoleName", naming: []string{"Path"}, limit: 64,
		arn: iamARN("role"),
		attributes: map[string]give{"Arn": ownARN, "RoleId": func(r *Resource) (string, error) {
			return "AROA" + strings.ToUpper(identifier(r, 17)), nil
		}}},
	"AWS::IAM::Policy": {support: running, nameProperty: "PolicyName", ref: id(12),
		attributes: map[string]give{"Id": ref}},
	"AWS::IAM::ManagedPolicy": {support: running, nameProperty: "ManagedPolicyName", naming: []string{"Path"},
		limit: 128, arn: iamARN("policy"), ref: ownARN,
		attributes: map[string]give{"PolicyArn": ownARN}},

	"AWS::Logs::LogGroup": {support: accepted, nameProperty: "LogGroupName",
		arn: func(r *Resource) (string, error) {
			return fmt.Sprintf("arn:aws:logs:%s:%s:log-group:%s:*", r.Stack.Region, r.Stack.Account, r.Name), nil
		},
		attributes: map[string]give{"Arn": ownARN}},
	"AWS::Logs::MetricFilter":   {support: accepted, nameProperty: "FilterName"},
	"AWS::Logs::ResourcePolicy": {support: accepted, nameProperty: "PolicyName"},
	"AWS::Logs::QueryDefinition": {support: accepted, ref: id(12),
		attributes: map[string]give{"QueryDefinitionId": ref}},

	"AWS::CloudWatch::Alarm": {support: accepted, nameProperty: "AlarmName", arn: arn("cloudwatch", "alarm:"),
		attributes: map[string]give{"Arn": ownARN}},
	"AWS::CloudWatch::CompositeAlarm": {support: accepted, nameProperty: "AlarmName", arn: arn("cloudwatch", "alarm:"),
		attributes: map[string]give{"Arn": ownARN}},
	"AWS::CloudWatch::Dashboard": {support: accepted, nameProperty: "DashboardName"},

	"AWS::SNS::Topic": {support: accepted, nameProperty: "TopicName", arn: arn("sns", ""), ref: ownARN,
		attributes: map[string]give{"TopicArn": ownARN, "TopicName": name}},
	"AWS::SNS::TopicPolicy":  {support: accepted, ref: id(12)},
	"AWS::SNS::Subscription": {support: accepted, ref: id(12), attributes: map[string]give{"Arn": ref}},

	"AWS::KMS::Key": {support: accepted,
		ref: func(r *Resource) (string, error) { return uuidOf(r.Stack.Name + "/" + r.LogicalID), nil },
		arn: func(r *Resource) (string, error) {
			return fmt.Sprintf("arn:aws:kms:%s:%s:key/%s", r.Stack.Region, r.Stack.Account,
				uuidOf(r.Stack.Name+"/"+r.LogicalID)), nil
		},
		attributes: map[string]give{"Arn": ownARN, "KeyId": ref}},
	"AWS::KMS::Alias": {support: accepted, nameProperty: "AliasName"},

	"AWS::EC2::VPC": network("vpc", "VpcId").with(map[string]give{
		"CidrBlock": of("CidrBlock"), "DefaultNetworkAcl": partOfNetwork("acl"),
		"DefaultSecurityGroup": partOfNetwork("sg"),
	}, "CidrBlock").withLists(map[string]giveList{
		"CidrBlockAssociations": func(r *Resource) []any {
			return []any{"vpc-cidr-assoc-" + identifier(r, 17)}
		}, "Ipv6CidrBlocks": ipv6Blocks,
	}),
	"AWS::EC2::VPCCidrBlock":              network("vpc-cidr-assoc", "Id"),
	"AWS::EC2::SubnetCidrBlock":           network("subnet-cidr-assoc", "Id"),
	"AWS::EC2::EgressOnlyInternetGateway": network("eigw", "Id"),
	"AWS::EC2::Subnet": network("subnet", "SubnetId").with(map[string]give{
		"AvailabilityZone": of("AvailabilityZone"), "CidrBlock": of("CidrBlock"), "VpcId": of("VpcId"),
		"NetworkAclAssociationId": partOfNetwork("aclassoc"),
	}, "AvailabilityZone", "CidrBlock", "VpcId"),
	"AWS::EC2::RouteTable":                  network("rtb", "RouteTableId"),
	"AWS::EC2::SubnetRouteTableAssociation": network("rtbassoc", "Id"),
	"AWS::EC2::Route": {support: accepted, naming: []string{"RouteTableId", "DestinationCidrBlock",
		"DestinationIpv6CidrBlock"},
		ref: func(r *Resource) (string, error) {
			block, err := destination(r)
			return r.naming["RouteTableId"] + "|" + block, err
		},
		attributes: map[string]give{"CidrBlock": destination}},
	"AWS::EC2::InternetGateway": network("igw", "InternetGatewayId"),
	"AWS::EC2::VPCGatewayAttachment": {support: accepted, naming: []string{"VpcId"},
		attributes: map[string]give{"AttachmentType": gatewayAttachment},
		ref: func(r *Resource) (string, error) {
			attachment, err := gatewayAttachment(r)
			return attachment + "|" + r.naming["VpcId"], err
		}},
	"AWS::EC2::NatGateway": network("nat", "NatGatewayId").with(map[string]give{"EniId": partOfNetwork("eni")}),
	"AWS::EC2::EIP": {support: accepted, ref: publicAddress,
		attributes: map[string]give{"PublicIp": ref, "AllocationId": partOfNetwork("eipalloc")}},
	"AWS::EC2::VPCEndpoint": network("vpce",
		"Id").with(map[string]give{"CreationTimestamp": fixed("Thu Jan 01 00:00:00 UTC 1970")}, "ServiceName").
		withLists(map[string]giveList{"DnsEntries": endpointNames, "NetworkInterfaceIds": endpointInterfaces}),
	"AWS::EC2::SecurityGroup": network("sg",
		"GroupId").with(map[string]give{"Id": ref, "VpcId": of("VpcId")}, "VpcId"),
	"AWS::EC2::SecurityGroupIngress":        network("sgr", "Id"),
	"AWS::EC2::SecurityGroupEgress":         network("sgr", "Id"),
	"AWS::EC2::FlowLog":                     network("fl", "Id"),
	"AWS::EC2::NetworkAcl":                  network("acl", "Id"),
	"AWS::EC2::NetworkAclEntry":             network("acle", "Id"),
	"AWS::EC2::SubnetNetworkAclAssociation": network("aclassoc", "AssociationId"),
	"AWS::EC2::VPNGateway":                  network("vgw", "VPNGatewayId"),
	"AWS::EC2::VPNGatewayRoutePropagation":  network("vgw", "Id"),

	"AWS::ApplicationAutoScaling::ScalableTarget": {support: accepted, ref: id(12),
		attributes: map[string]give{"Id": ref}},
	"AWS::ApplicationAutoScaling::ScalingPolicy": {support: accepted, ref: id(12),
		attributes: map[string]give{"Arn": ref}},

	"AWS::CDK::Metadata": {support: accepted},

	"AWS::Cognito::UserPool": {support: running, nameProperty: "UserPoolName", ref: userPoolID,
		arn: func(r *Resource) (string, error) {
			pool, err := userPoolID(r)
			return fmt.Sprintf("arn:aws:cognito-idp:%s:%s:userpool/%s", r.Stack.Region, r.Stack.Account, pool), err
		},
		attributes: map[string]give{"Arn": ownARN, "UserPoolId": ref, "ProviderName": providerName,
			"ProviderURL": providerURL}},
	"AWS::Cognito::UserPoolClient": {support: running, nameProperty: "ClientName", ref: id(26),
		attributes: map[string]give{"ClientId": ref, "Name": name}},
	"AWS::Cognito::UserPoolDomain":                    {support: running, nameProperty: "Domain"},
	"AWS::Cognito::UserPoolResourceServer":            {support: accepted, nameProperty: "Identifier"},
	"AWS::Cognito::UserPoolGroup":                     {support: running, nameProperty: "GroupName"},
	"AWS::Cognito::UserPoolIdentityProvider":          {support: accepted, nameProperty: "ProviderName"},
	"AWS::Cognito::UserPoolUICustomizationAttachment": {support: accepted, ref: id(12)},
	"AWS::Cognito::ManagedLoginBranding": {support: accepted, ref: id(12), attributes: map[string]give{
		"ManagedLoginBrandingId": func(r *Resource) (string, error) {
			return uuidOf(r.Stack.Name + "/" + r.LogicalID), nil
		}}},

	"AWS::S3::Bucket": {support: running, nameProperty: "BucketName", limit: 63, lower: true, arn: globalARN("s3"),
		attributes: map[string]give{
			"Arn": ownARN, "DomainName": domain("NAME.s3.amazonaws.com"),
			"RegionalDomainName":  domain("NAME.s3.REGION.amazonaws.com"),
			"DualStackDomainName": domain("NAME.s3.dualstack.REGION.amazonaws.com"),
		}},
	"AWS::S3::BucketPolicy": {support: accepted, ref: id(12)},

	// The console shows the catalog and the saved queries; onesynth lake runs queries on them.
	"AWS::Glue::Database": {support: running, nameProperty: "DatabaseInput.Name", lower: true,
		arn: arn("glue", "database/")},
	"AWS::Glue::Table": {support: running, nameProperty: "TableInput.Name", naming: []string{"DatabaseName"},
		lower: true, arn: tableOfCatalogARN},
	"AWS::Athena::WorkGroup": {support: running, nameProperty: "Name", limit: 128, arn: arn("athena", "workgroup/"),
		attributes: map[string]give{
			"CreationTime": fixed("0"), "WorkGroupConfiguration.EngineVersion.EffectiveEngineVersion": fixed(
				"Athena engine version 3")}},
	"AWS::Athena::NamedQuery": {support: running, nameProperty: "Name", limit: 128,
		ref:        func(r *Resource) (string, error) { return uuidOf(r.Stack.Name + "/" + r.LogicalID), nil },
		attributes: map[string]give{"NamedQueryId": ref}},
}
