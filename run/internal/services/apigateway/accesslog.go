package apigateway

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

type formatPart struct {
	text     string
	variable string // without "$context."
}

var contextVariable = regexp.MustCompile(`\$context\.([A-Za-z0-9_.:-]*[A-Za-z0-9_])`)

func parseFormat(format string) []formatPart {
	if format == "" {
		return nil
	}
	var parts []formatPart
	last := 0
	for _, match := range contextVariable.FindAllStringSubmatchIndex(format, -1) {
		parts = append(parts, formatPart{text: format[last:match[0]]}, formatPart{variable: format[match[2]:match[3]]})
		last = match[1]
	}
	return append(parts, formatPart{text: format[last:]})
}

// accessLine fills the stage's format ("Customize HTTP API access logs"); a variable without a value is "-".
func (g *Gateway) accessLine(r *http.Request, c *call) string {
	var line strings.Builder
	for _, part := range g.format {
		line.WriteString(part.text)
		if part.variable != "" {
			value := g.variable(part.variable, r, c)
			if value == "" {
				value = "-"
			}
			line.WriteString(value)
		}
	}
	return line.String()
}

func (g *Gateway) variable(name string, r *http.Request, c *call) string {
	switch name {
	case "requestId", "extendedRequestId":
		return c.requestID
	case "identity.sourceIp":
		return c.sourceIP
	case "identity.userAgent":
		return escape(r.UserAgent())
	case "requestTime":
		return c.began.UTC().Format(commonLogTime)
	case "requestTimeEpoch":
		return strconv.FormatInt(c.began.UnixMilli(), 10)
	case "httpMethod":
		return r.Method
	case "path":
		return escape(c.path)
	case "protocol":
		return r.Proto
	case "status":
		return strconv.Itoa(c.status)
	case "responseLength":
		return strconv.Itoa(len(c.answer))
	case "responseLatency":
		return strconv.FormatInt(g.options.Now().Sub(c.began).Milliseconds(), 10)
	case "integrationLatency", "integration.latency":
		return latency(c.integration)
	case "integrationStatus", "integration.status", "integration.integrationStatus":
		if c.integration == 0 {
			return ""
		}
		return strconv.Itoa(http.StatusOK)
	case "integrationErrorMessage", "integration.error":
		return escape(c.failed)
	case "error.message":
		return c.message
	case "error.messageString":
		if c.message == "" {
			return ""
		}
		return strconv.Quote(c.message)
	case "routeKey":
		if c.route == nil {
			return ""
		}
		return c.route.Key
	case "apiId":
		return g.api.ID
	case "accountId":
		return g.api.Account
	case "stage":
		return g.api.Stage
	case "domainName":
		return r.Host
	}
	return escape(c.properties[strings.TrimPrefix(name, "authorizer.")])
}

func latency(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strconv.FormatInt(d.Milliseconds(), 10)
}

// escape keeps a value of the request from breaking out of a JSON string in the format.
func escape(value string) string {
	quoted, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(quoted[1 : len(quoted)-1])
}
