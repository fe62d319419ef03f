# A function written for the shell, after "Tutorial: Building a custom runtime" (AWS Lambda developer guide).
api="http://$AWS_LAMBDA_RUNTIME_API/2018-06-01/runtime/invocation"
headers="$(mktemp)"
trap 'rm -f "$headers"' EXIT
while event="$(curl -sS -D "$headers" "$api/next")"; do
	request="$(tr -d '\r' < "$headers" | grep -i '^lambda-runtime-aws-request-id:' | cut -d ' ' -f 2)"
	echo "$_HANDLER got $(printf %s "$event" | grep -o '"rawPath":"[^"]*"')"
	curl -sS "$api/$request/response" -d "{\"statusCode\":201,\"body\":\"$_HANDLER of $AWS_LAMBDA_FUNCTION_NAME with $TABLE\"}" > /dev/null
done
