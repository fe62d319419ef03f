package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// object is one of JSON.
type object = map[string]any

// at is the object that a member is, which it then has.
func at(of object, name string) object {
	member, ok := of[name].(object)
	if !ok {
		member = object{}
		of[name] = member
	}
	return member
}

func parse(content []byte) (document object, err error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	err = decoder.Decode(&document)
	return document, err
}

// join merges the documents of an API's functions. Each describes the operations of its function. The document with the
// most paths gives the title and all else. A component that differs from another of its name gets a number.
func join(contents [][]byte) ([]byte, error) {
	documents := make([]object, len(contents))
	for i, content := range contents {
		var err error
		if documents[i], err = parse(content); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(documents, func(a, b object) int { return len(at(b, "paths")) - len(at(a, "paths")) })
	joined := documents[0]
	for i, document := range documents[1:] {
		document, err := numbered(document, at(joined, "components"), strconv.Itoa(i+2))
		if err != nil {
			return nil, err
		}
		for _, part := range []string{"paths", "components"} {
			for name := range at(document, part) {
				to := at(at(joined, part), name)
				for member, value := range at(at(document, part), name) {
					if _, taken := to[member]; taken && part == "paths" {
						return nil, fmt.Errorf("paths: got %s %s in the documents of two functions, allowed is each "+
							"operation in one: register it in the function that serves the route",
							strings.ToUpper(member), name)
					}
					to[member] = value
				}
			}
		}
	}
	return json.Marshal(joined)
}

// numbered is a document whose components are those of the others, or have a name of their own.
func numbered(document, others object, number string) (object, error) {
	names := map[string]string{}
	for kind := range at(document, "components") {
		// Security schemes are called by their names alone, and are the API's.
		for name, component := range at(at(document, "components"), kind) {
			theirs, taken := at(others, kind)[name]
			if taken && kind != "securitySchemes" && !reflect.DeepEqual(component, theirs) {
				names["#/components/"+kind+"/"+name] = name + number
				at(at(document, "components"), kind)[name+number] = component
				delete(at(at(document, "components"), kind), name)
			}
		}
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	for reference, name := range names {
		to := reference[:strings.LastIndexByte(reference, '/')+1] + name
		text = bytes.ReplaceAll(text, []byte(strconv.Quote(reference)), []byte(strconv.Quote(to)))
	}
	return parse(text)
}
