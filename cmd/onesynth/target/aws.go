package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go"
)

// signIn says how to get credentials.
const signIn = "sign in (aws sso login, or as you do), or choose a profile with AWS_PROFILE (aws configure " +
	"list-profiles shows them)"

// Connect returns the configuration of the AWS command line, for the Region unless that is empty. Its errors say what
// to do.
func Connect(ctx context.Context, region string) (aws.Config, error) {
	var options []func(*config.LoadOptions) error
	if region != "" {
		options = append(options, config.WithRegion(region))
	}
	configuration, err := config.LoadDefaultConfig(ctx, options...)
	var noProfile config.SharedConfigProfileNotExistError
	switch {
	case errors.As(err, &noProfile):
		return aws.Config{}, fmt.Errorf("got an unknown profile: set AWS_PROFILE to one of aws configure "+
			"list-profiles: %w", err)
	case err != nil:
		return aws.Config{}, fmt.Errorf("AWS configuration: %w", err)
	}
	if _, err := configuration.Credentials.Retrieve(ctx); err != nil {
		return aws.Config{}, fmt.Errorf("got no AWS credentials: %s: %w", signIn, err)
	}
	return configuration, nil
}

// Advise adds a remedy to the error of a request that needs the permissions.
func Advise(err error, region, permissions string) error {
	var unknownHost *net.DNSError
	if errors.As(err, &unknownHost) {
		return fmt.Errorf(
			"got no address for AWS in %s: set AWS_REGION to an existing Region, or check the network: %w", region, err)
	}
	var refusal smithy.APIError
	if !errors.As(err, &refusal) {
		return err
	}
	switch code := refusal.ErrorCode(); {
	case strings.HasPrefix(code, "AccessDenied"):
		return fmt.Errorf("a permission is missing: %s are needed: %w", permissions, err)
	case slices.Contains([]string{"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId",
		"UnrecognizedClientException", "SignatureDoesNotMatch"}, code):
		return fmt.Errorf("AWS does not take the credentials: %s: %w", signIn, err)
	}
	return err
}
