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

// Errors of [Connect] and [Advise].
var (
	// ErrNoCredentials says that there are no credentials of AWS.
	ErrNoCredentials = errors.New("got no AWS credentials")
	// ErrNoProfile says that the profile in AWS_PROFILE does not exist.
	ErrNoProfile = errors.New("got an unknown profile")
	// ErrCredentials says that AWS does not take the credentials.
	ErrCredentials = errors.New("AWS does not take the credentials")
	// ErrPermission says that the credentials lack a permission.
	ErrPermission = errors.New("a permission is missing")
)

// Connect returns the configuration of the AWS command line, for the Region unless that is "". Its errors say what to
// do.
func Connect(ctx context.Context, region string) (aws.Config, error) {
	var options []func(*config.LoadOptions) error
	if region != "" {
		options = append(options, config.WithRegion(region))
	}
	configuration, err := config.LoadDefaultConfig(ctx, options...)
	var noProfile config.SharedConfigProfileNotExistError
	switch {
	case errors.As(err, &noProfile):
		return aws.Config{}, fmt.Errorf("%w: set AWS_PROFILE to one of aws configure list-profiles: %w",
			ErrNoProfile, err)
	case err != nil:
		return aws.Config{}, fmt.Errorf("AWS configuration: %w", err)
	}
	if _, err := configuration.Credentials.Retrieve(ctx); err != nil {
		return aws.Config{}, fmt.Errorf("%w: %s: %w", ErrNoCredentials, signIn, err)
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
		return fmt.Errorf("%w: %s are needed: %w", ErrPermission, permissions, err)
	case slices.Contains([]string{"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId",
		"UnrecognizedClientException", "SignatureDoesNotMatch"}, code):
		return fmt.Errorf("%w: %s: %w", ErrCredentials, signIn, err)
	}
	return err
}
