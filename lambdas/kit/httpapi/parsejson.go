package httpapi

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// parser decodes JSON into any as package encoding/json does, and finds names that an object has twice.
type parser struct {
	data []byte
	at   int
	// depth is how many arrays and objects are open.
	depth int
	// repeated is the first name that its object has twice, if found.
	repeated string
	found    bool
}

// maxDepth is how deep package encoding/json reads.
const maxDepth = 10_000

// parseJSON decodes valid UTF-8. It is not ok if package encoding/json refuses the text, which then says why.
func parseJSON(data []byte) (p parser, value any, ok bool) {
	p = parser{data: data}
	value, ok = p.value()
	p.space()
	return p, value, ok && p.at == len(data)
}

func (p *parser) space() {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// next skips space and returns the byte after it; 0 at the end.
func (p *parser) next() byte {
	p.space()
	if p.at == len(p.data) {
		return 0
	}
	return p.data[p.at]
}

// takes reports whether c is next, and passes it.
func (p *parser) takes(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) value() (any, bool) {
	switch p.next() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		return p.text()
	case 't':
		return true, p.word("true")
	case 'f':
		return false, p.word("false")
	case 'n':
		return nil, p.word("null")
	default:
		return p.number()
	}
}

func (p *parser) word(word string) bool {
	if !bytes.HasPrefix(p.data[p.at:], []byte(word)) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *parser) object() (any, bool) {
	object := map[string]any{}
	return object, p.within('}', func() bool {
		if p.next() != '"' {
			return false
		}
		name, ok := p.text()
		if !ok || !p.takes(':') {
			return false
		}
		if _, twice := object[name]; twice && !p.found {
			p.repeated, p.found = name, true
		}
		value, ok := p.value()
		object[name] = value
		return ok
	})
}

func (p *parser) array() (any, bool) {
	array := []any{}
	ok := p.within(']', func() bool {
		value, ok := p.value()
		array = append(array, value)
		return ok
	})
	return array, ok
}

// within reads the elements of an array or object, with commas between them, up to its end.
func (p *parser) within(end byte, element func() bool) bool {
	if p.depth++; p.depth > maxDepth {
		return false
	}
	defer func() { p.depth-- }()
	p.at++
	if p.takes(end) {
		return true
	}
	for element() {
		if p.takes(end) {
			return true
		}
		if !p.takes(',') {
			return false
		}
	}
	return false
}

func (p *parser) text() (text string, ok bool) {
	begin, escaped := p.at, false
	for p.at++; p.at < len(p.data); p.at++ {
		switch c := p.data[p.at]; {
		case c == '"':
			p.at++
			if !escaped {
				return string(p.data[begin+1 : p.at-1]), true
			}
			return text, json.Unmarshal(p.data[begin:p.at], &text) == nil
		case c < ' ':
			return "", false
		case c == '\\':
			escaped = true
			p.at++
		}
	}
	return "", false
}

func (p *parser) number() (any, bool) {
	begin := p.at
	for p.at < len(p.data) && bytes.IndexByte([]byte("+-.0123456789eE"), p.data[p.at]) >= 0 {
		p.at++
	}
	text := p.data[begin:p.at]
	// Package strconv reads more than JSON allows, such as +1 and 01.
	if !json.Valid(text) {
		return nil, false
	}
	n, err := strconv.ParseFloat(string(text), 64)
	return n, err == nil
}
