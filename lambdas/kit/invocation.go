package kit

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// Invocation describes the invocation that a context belongs to.
type Invocation struct {
	// RequestID is Lambda's id of the invocation.
	RequestID string
	// ColdStart says that it is the first one of this process.
	ColdStart bool
	// Route is the matched route of an HTTP request, such as "GET /agent/questions/{question_id}". Empty: no route
	// matched.
	Route string
	// SourceAddress is the IP address that an HTTP request came from.
	SourceAddress string
	// Claims are the claims of the JWT that API Gateway has verified. Nil: the route has no
	// authorizer.
	Claims map[string]string
	// Groups are the groups of the verified token's user: what its claim "cognito:groups" lists, or the claim itself if
	// it is a text. API Gateway hands a list on as "[admin staff]", which may be two names or one with a blank. So the
	// names come from the token in the header Authorization. Nil: there is no token, or it names no group.
	//
	// If a Lambda authorizer has let the request in, they come from the member of that name in its context.
	Groups []string
	// Context is what the route's Lambda authorizer has said of the caller. Nil: it has said nothing, or the route has
	// no authorizer.
	Context map[string]any
	// Signer is who signed the request with credentials of AWS, on a route that IAM guards.
	Signer Signer
}

// Signer is who signs requests with credentials of AWS (Signature Version 4).
type Signer struct {
	// Account is the AWS account, and ARN the name of the user, or of the role and its session, there.
	Account, ARN string
	// ID is the id, which no later user or role has: for a role, its own id and the name of the session.
	ID string
}

// maxSubjectLength is how long a JWT's subject may be (OpenID Connect Core 1.0,
// section 2: 255 ASCII characters).
const maxSubjectLength = 255

// groupsClaim is the claim with the groups of a user ("Understanding the access token", Amazon Cognito
// Developer Guide).
const groupsClaim = "cognito:groups"

// Subject returns who calls: the verified token's subject, the ID of the Signer, or the member sub of what a Lambda
// authorizer has said. It is empty if that is missing, or longer than 255 bytes.
func (i Invocation) Subject() string {
	subject := cmp.Or(i.Claims["sub"], i.Signer.ID)
	if subject == "" {
		subject, _ = i.Context["sub"].(string)
	}
	if len(subject) > maxSubjectLength {
		return ""
	}
	return subject
}

// authorised reads what the authorizer of the route has found out. authorization are the values of the header that a
// token is in.
func (i *Invocation) authorised(by *events.APIGatewayV2HTTPRequestContextAuthorizerDescription,
	authorization []string) {
	switch {
	case by == nil:
	case by.JWT != nil:
		i.Claims = by.JWT.Claims
		i.Groups = groupsOf(i.Claims, authorization)
	case by.IAM != nil:
		i.Signer = Signer{Account: by.IAM.AccountID, ARN: by.IAM.UserARN, ID: by.IAM.UserID}
	default:
		i.Context = by.Lambda
		switch groups := i.Context[groupsClaim].(type) {
		case string:
			i.Groups = []string{groups}
		case []any:
			for _, group := range groups {
				if name, ok := group.(string); ok {
					i.Groups = append(i.Groups, name)
				}
			}
		}
	}
}

// groupsOf reads the groups of a token that API Gateway has verified. authorization are the values of the
// header that it took the token from. A token that does not have the words of the verified claim is another
// one, and has no groups.
func groupsOf(claims map[string]string, authorization []string) (groups []string) {
	if claims[groupsClaim] == "" || len(authorization) != 1 {
		return nil
	}
	token := authorization[0]
	if scheme, rest, ok := strings.Cut(token, " "); ok && strings.EqualFold(scheme, "Bearer") {
		token = strings.TrimSpace(rest)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	// A map, because the names of a struct's fields match in any case.
	var all map[string]json.RawMessage
	if json.Unmarshal(payload, &all) != nil {
		return nil
	}
	var group string
	if json.Unmarshal(all[groupsClaim], &group) == nil {
		groups = []string{group}
	} else if json.Unmarshal(all[groupsClaim], &groups) != nil {
		return nil
	}
	if !slices.Equal(words(strings.Join(groups, " ")), words(claims[groupsClaim])) {
		return nil
	}
	return groups
}

// words are the words of a list as API Gateway writes it, in alphabetical order.
func words(text string) []string {
	return slices.Sorted(slices.Values(strings.Fields(strings.Trim(text, "[]"))))
}

type invocationKey struct{}

// InvocationFrom returns the invocation that the context belongs to; the zero
// value outside of one.
func InvocationFrom(ctx context.Context) Invocation {
	if invocation, ok := ctx.Value(invocationKey{}).(*Invocation); ok {
		return *invocation
	}
	return Invocation{}
}

// WithInvocation returns a context that belongs to the invocation.
func WithInvocation(ctx context.Context, invocation Invocation) context.Context {
	return context.WithValue(ctx, invocationKey{}, &invocation)
}

// invocations counts the invocations of a process. The zero value has seen none.
type invocations struct{ begun atomic.Bool }

// answerTime is how much of its time an invocation reserves for its answer. A short invocation
// reserves a tenth.
const answerTime = time.Second

// Ends reports whether a context has ended, or ends before a step of that duration could.
func Ends(ctx context.Context, step time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) < step
}

// workContext returns the context of the next invocation's work; the caller cancels it. The context has
// the invocation, and the budget of its requests. It ends before the invocation does, which leaves
// time for an answer when the work waits for something that never answers.
func (i *invocations) workContext(ctx context.Context, budget int) (context.Context, context.CancelFunc) {
	invocation := &Invocation{ColdStart: i.begun.CompareAndSwap(false, true)}
	if lambda, ok := lambdacontext.FromContext(ctx); ok {
		invocation.RequestID = lambda.AwsRequestID
	}
	ctx = retry.WithBudget(context.WithValue(ctx, invocationKey{}, invocation), retry.NewBudget(budget))
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-min(answerTime, time.Until(deadline)/10)))
}
