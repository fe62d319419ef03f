package kit

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// Invocation is what is known of the invocation that a context belongs to.
type Invocation struct {
	// RequestID is Lambda's id of the invocation.
	RequestID string
	// ColdStart says that it is the first one of this process.
	ColdStart bool
	// Route is the matched route of an HTTP request, such as
	// "GET /agent/questions/{question_id}". Empty: none matched.
	Route string
	// SourceAddress is the IP address that an HTTP request came from.
	SourceAddress string
	// Claims are the claims of the JWT that API Gateway has verified. Nil: the route has no
	// authorizer.
	Claims map[string]string
}

// maxSubjectLength is how long a JWT's subject may be (OpenID Connect Core 1.0,
// section 2: 255 ASCII characters).
const maxSubjectLength = 255

// Subject is the verified token's subject: 1 to 255 bytes. Empty: there
// is no token, or none with such a subject.
func (i Invocation) Subject() string {
	subject := i.Claims["sub"]
	if len(subject) > maxSubjectLength {
		return ""
	}
	return subject
}

// Groups are the groups of an Amazon Cognito user pool that the verified token's user is
// in. API Gateway hands a claim that is a list on as "[admin staff]"; names of groups have no
// white space (CreateGroup, Amazon Cognito API reference).
func (i Invocation) Groups() []string {
	return strings.Fields(strings.Trim(i.Claims["cognito:groups"], "[]"))
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

// begin returns the context of the next invocation's work; the caller cancels it. The context has
// the invocation, and the budget of its requests. It ends before the invocation does, which leaves
// time for an answer when the work waits for something that never answers.
func (i *invocations) begin(ctx context.Context, budget int) (context.Context, context.CancelFunc) {
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
