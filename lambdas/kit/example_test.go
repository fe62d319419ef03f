package kit_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// The whole of a main function: API Gateway's requests reach a net/http handler.
func ExampleStartHTTP() {
	kit.StartHTTP("orders", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		values, err := environment.Require("GREETING")
		if err != nil {
			return nil, err
		}
		routes := http.NewServeMux()
		routes.HandleFunc("GET /greeting", func(w http.ResponseWriter, r *http.Request) {
			environment.Metrics.Emit(r.Context(), kit.Count("Greeted", 1))
			io.WriteString(w, values[0])
		})
		return &kit.API{Routes: routes, Error: failure, Log: environment.Log}, nil
	})
}

// failure gives every error its status and form.
func failure(_ context.Context, err error) (status int, body any) {
	var request *validate.Error
	if errors.As(err, &request) {
		return request.Status, map[string]string{"error": request.Error()}
	}
	return http.StatusInternalServerError, map[string]string{"error": "internal error"}
}

// CloudWatch makes metrics of one line on standard output.
func ExampleMetrics_Emit() {
	metrics := &kit.Metrics{
		Namespace: "Onesynth/orders", Function: "orders-api", Writer: os.Stdout,
		Clock: func() time.Time { return time.UnixMilli(1_767_225_600_000) },
	}
	metrics.Emit(context.Background(), kit.Count("Ordered", 1), kit.Milliseconds("Packing", 1500*time.Microsecond))
	// Output:
	// {"FunctionName":"orders-api","Ordered":1,"Packing":1.5,"_aws":{"Timestamp":1767225600000,"CloudWatchMetrics":[{"Namespace":"Onesynth/orders","Dimensions":[["FunctionName"]],"Metrics":[{"Name":"Ordered","Unit":"Count"},{"Name":"Packing","Unit":"Milliseconds"}]}]},"request_id":""}
}
