package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxBody is how much of a body a Recorder keeps; of headers it keeps all, or none if they are longer.
const MaxBody = maxText

// Content is what one side of an HTTP request sent: its client, or the API that answered.
type Content struct {
	Header http.Header
	Body   []byte
	// Part says that Body is not the whole body, or not known.
	Part bool
}

// Message is one side of an HTTP request, as people may see it.
type Message struct {
	// Headers are its headers. Of those with secrets only the beginning is here.
	Headers http.Header `json:"headers"`
	// Secrets are the names of the headers that are shortened.
	Secrets []string `json:"secrets"`
	// Body is the body, if it is text.
	Body string `json:"body,omitempty"`
	// Bytes is the size of the whole body.
	Bytes int `json:"body_bytes"`
	// Cut says that it is not whole: at most the first 32 KB of the body are kept, headers up to 32 KB, and no body
	// that the API did not read.
	Cut bool `json:"cut"`
}

// Failure is what the body of an answer says about an error.
type Failure struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Field is the first field of the request that is wrong.
	Field string `json:"field,omitempty"`
}

// exchange is what a Recorder keeps of both sides.
type exchange struct{ sent, answer message }

// message is a Content that is kept, and the size of its body.
type message struct {
	Content
	bytes int
	text  bool
	cut   bool
}

// Exchange keeps what the client of the request sent and what it was answered. A Recorder keeps 48 MB of this, and
// forgets that of the oldest requests first.
func (q *Request) Exchange(sent, answer Content) {
	if q == nil {
		return
	}
	exchanged, key := &exchange{keep(sent), keep(answer)}, cut(idempotencyKey(sent), maxInput)
	r := q.recorder
	r.mutex.Lock()
	defer r.mutex.Unlock()
	q.kept.key = key
	r.growLocked(q.kept, len(key))
	if q.kept.dropped {
		return
	}
	q.kept.exchange = exchanged
	r.exchanged += exchanged.size()
	if r.exchanged <= maxBytes {
		return
	}
	// An eighth at once: otherwise each further request would look for the oldest one that has something to forget.
	for _, oldest := range r.requests {
		if r.exchanged <= maxBytes/8*7 {
			return
		}
		if oldest != q.kept {
			r.forgetLocked(oldest)
		}
	}
}

func (r *Recorder) forgetLocked(kept *request) {
	if kept.exchange != nil {
		r.exchanged -= kept.exchange.size()
		kept.exchange = nil
	}
}

func keep(content Content) message {
	kept := message{bytes: len(content.Body), text: utf8.Valid(content.Body)}
	if headerSize(content.Header) <= maxText {
		kept.Header = content.Header.Clone()
	}
	kept.Body = slices.Clone(content.Body[:min(len(content.Body), MaxBody)])
	kept.cut = content.Part || len(kept.Body) < kept.bytes || len(kept.Header) < len(content.Header)
	return kept
}

// has reports whether the predicate holds for one of the sides, as people may see it.
func (e *exchange) has(holds func(Message) bool) bool {
	return e != nil && (holds(e.sent.shown()) || holds(e.answer.shown()))
}

func (e *exchange) size() int {
	return 200 + headerSize(e.sent.Header) + len(e.sent.Body) + headerSize(e.answer.Header) + len(e.answer.Body)
}

// headerSize is roughly the memory of headers.
func headerSize(header http.Header) (size int) {
	for name, values := range header {
		size += 64 + len(name)
		for _, value := range values {
			size += 16 + len(value)
		}
	}
	return size
}

// Sent returns what a request was and what its client sent, secrets included, if it is among the newest, and whether
// that is whole.
func (r *Recorder) Sent(id string) (origin Origin, sent Content, whole bool) {
	if r == nil {
		return Origin{}, Content{}, false
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	kept := r.byRequest[id]
	if kept == nil || kept.exchange == nil {
		return Origin{}, Content{}, false
	}
	sent = kept.exchange.sent.Content
	sent.Header = sent.Header.Clone()
	return kept.Origin, sent, !kept.exchange.sent.cut
}

func (m message) shown() Message {
	shown := Message{Headers: http.Header{}, Secrets: []string{}, Bytes: m.bytes, Cut: m.cut}
	for name, values := range m.Header {
		values = slices.Clone(values)
		for i, value := range values {
			if !secretName.MatchString(name) && !token.MatchString(value) || publicNames[name] {
				continue
			}
			values[i] = shorten(value)
			if !slices.Contains(shown.Secrets, name) {
				shown.Secrets = append(shown.Secrets, name)
			}
		}
		shown.Headers[name] = values
	}
	slices.Sort(shown.Secrets)
	if m.text {
		shown.Body = strings.ToValidUTF8(string(m.Body), "")
	}
	return shown
}

var (
	// secretName matches the names of headers that have secrets. token matches what is a secret in any header: a JSON
	// Web Token, and a key that begins with its issuer's letters, as those of agents and of many services do.
	secretName = regexp.MustCompile(`(?i)auth|cookie|credential|key|passw|secret|session|signature|token`)
	token      = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.|^[a-z]{2,8}_[A-Za-z0-9_-]{24,}$`)
	// publicNames are headers with such names, whose values are no secrets.
	publicNames = map[string]bool{"Idempotency-Key": true, "X-Idempotency-Key": true, "Www-Authenticate": true,
		"Access-Control-Allow-Credentials": true}
	// scheme is what stands before the secret of a header: such as "Bearer ".
	scheme = regexp.MustCompile(`^[A-Za-z0-9-]+ +`)
)

// shorten keeps the scheme and at most a quarter of a secret, up to six characters.
func shorten(value string) string {
	before := scheme.FindString(value)
	secret := []rune(value[len(before):])
	return before + string(secret[:min(len(secret)/4, 6)]) + "…"
}

// failure reads the body of an answer to a request that failed, whose form is the platform's own.
func (m message) failure() (found Failure) {
	objects(m.Body, func(value map[string]any) {
		found.Code = cmp.Or(found.Code, text(value, "code", "error_code"))
		found.Message = cmp.Or(found.Message, text(value, "message", "detail", "error"))
		found.Field = cmp.Or(found.Field, text(value, "field"))
	})
	found.Code, found.Message = cut(found.Code, maxInput), cut(found.Message, maxInput)
	return found
}

// idempotencyKey returns the idempotency key of a request, which is in a header or the body, or "".
func idempotencyKey(sent Content) (key string) {
	key = cmp.Or(sent.Header.Get("Idempotency-Key"), sent.Header.Get("X-Idempotency-Key"))
	if key == "" && bytes.Contains(sent.Body, []byte(`"idempotency_key"`)) {
		objects(sent.Body, func(value map[string]any) { key = cmp.Or(key, text(value, "idempotency_key")) })
	}
	return key
}

// objects visits the objects of a JSON document, those nearest to the top first.
func objects(body []byte, visit func(map[string]any)) {
	var document any
	if json.Unmarshal(body, &document) != nil {
		return
	}
	for level := []any{document}; len(level) > 0; {
		var below []any
		for _, value := range level {
			switch value := value.(type) {
			case []any:
				below = append(below, value...)
			case map[string]any:
				visit(value)
				for _, name := range slices.Sorted(maps.Keys(value)) {
					below = append(below, value[name])
				}
			}
		}
		level = below
	}
}

// text is the first of the members that is a text.
func text(of map[string]any, names ...string) string {
	for _, name := range names {
		if value, ok := of[name].(string); ok && value != "" {
			return value
		}
	}
	return ""
}
