package aws

// AWS's JSON protocols: operations by name, with inputs and answers of types, and errors.

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Serialization is the type of an error about a request that cannot be read.
const Serialization = "com.amazon.coral.service#SerializationException"

// Failure is an error of AWS's JSON protocols.
type Failure struct {
	Type    string
	Message string
	// Reasons are those of a cancelled transaction.
	Reasons []Reason
	// Status is the HTTP status; 0 means 400.
	Status int
	// QueryError is the error's code in SQS's older protocol, which SDKs report.
	QueryError string
}

// Reason is why one item of a transaction cancelled it; None if it did not.
type Reason struct {
	Code    string `json:"Code"`
	Message string `json:"Message,omitempty"`
}

// Error has the type and the message.
func (e *Failure) Error() string { return e.Type + ": " + e.Message }

// Unknown is the error of a call that is not served.
func Unknown(service, operation string) error {
	if service == "" {
		service = "an unnamed service"
	}
	return &Failure{Type: "UnknownOperationException",
		Message: fmt.Sprintf("onesynth local does not serve %s of %s", operation, service)}
}

// Unknown is the error of the call where it is not served.
func (c *Call) Unknown() error {
	return Unknown(c.Service, cmp.Or(c.Operation, c.Request.Method+" "+c.Request.URL.Path))
}

// Invalid is the error of an input that a service does not take.
func Invalid(message string) error { return &Failure{Type: "ValidationException", Message: message} }

// Operation is an operation of a service that speaks a JSON protocol. Typed makes one.
type Operation struct {
	needs func(*Call) ([]Permission, error)
	serve func(*Call) (any, error)
}

// Typed makes an operation of functions of its input.
func Typed[In any](needs func(*Call, In) ([]Permission, error), serve func(*Call, In) (any, error)) Operation {
	return Operation{
		needs: func(call *Call) ([]Permission, error) {
			in, err := Decode[In](call)
			if err != nil {
				return nil, err
			}
			call.Input = in
			return needs(call, in)
		},
		serve: func(call *Call) (any, error) { return serve(call, call.Input.(In)) },
	}
}

// Decode reads the body of a call, which is a JSON object.
func Decode[In any](call *Call) (in In, err error) {
	if err := call.ReadBody(); err != nil {
		return in, err
	}
	if err := json.Unmarshal(call.Body, &in); err != nil {
		return in, &Failure{Type: Serialization, Message: err.Error()}
	}
	return in, nil
}

// Operations are a [Service] of operations by their names.
type Operations map[string]Operation

// Needs implements [Service].
func (o Operations) Needs(call *Call) ([]Permission, error) {
	operation, ok := o[call.Operation]
	if !ok {
		return nil, call.Unknown()
	}
	return operation.needs(call)
}

// Serve implements [Service].
func (o Operations) Serve(w http.ResponseWriter, call *Call) error {
	answer, err := o[call.Operation].serve(call)
	if err != nil {
		return err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("%s: %w", call.Operation, err)
	}
	write(w, http.StatusOK, text)
	return nil
}

// Refuse implements [Service].
func (Operations) Refuse(w http.ResponseWriter, _ *Call, err error) { WriteError(w, err) }

// WriteError answers with an error. One that is neither a [*Failure] nor a [*DeniedError] is InternalFailure (500).
func WriteError(w http.ResponseWriter, err error) {
	var failure *Failure
	var denied *DeniedError
	switch {
	case errors.As(err, &failure):
	case errors.As(err, &denied):
		failure = &Failure{Type: "com.amazon.coral.service#AccessDeniedException", Message: denied.Error()}
	default:
		failure = &Failure{Type: "com.amazon.coral.service#InternalFailure", Message: err.Error(),
			Status: http.StatusInternalServerError}
	}
	members := map[string]any{"__type": failure.Type}
	// AWS begins the member with a capital in these two, and SDKs read no other form.
	if failure.Reasons != nil || denied != nil {
		members["Message"] = failure.Message
	} else {
		members["message"] = failure.Message
	}
	if failure.Reasons != nil {
		members["CancellationReasons"] = failure.Reasons
	}
	text, err := json.Marshal(members)
	if err != nil {
		text = []byte("{}")
	}
	if failure.QueryError != "" {
		w.Header().Set("X-Amzn-Query-Error", failure.QueryError+";Sender")
	}
	status := failure.Status
	if status == 0 {
		status = http.StatusBadRequest
	}
	write(w, status, text)
}

func write(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-Requestid", rand.Text())
	Write(w, status, text)
}

// Write answers with a text, its length and its checksum.
func Write(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(text)), 10))
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// Epoch is a time in AWS's JSON: seconds since 1970 with a fraction.
func Epoch(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }

// failureOf is an error's code and message, from the JSON or XML of an answer.
func failureOf(answer []byte) string {
	var failure struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &failure) == nil && failure.Type != "" {
		code := failure.Type[strings.LastIndex(failure.Type, "#")+1:]
		return strings.TrimSuffix(code+": "+failure.Message, ": ")
	}
	var inXML struct{ Code, Message string }
	if xml.Unmarshal(answer, &inXML) == nil && inXML.Code != "" {
		return inXML.Code + ": " + inXML.Message
	}
	return strings.ToValidUTF8(string(answer), "")
}
