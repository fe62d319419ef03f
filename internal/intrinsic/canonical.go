package intrinsic

// The one form of values that can be written in several ways.

import "strings"

// Canonical returns a value in the form that is the same for all ways of writing it, so that two templates can be
// compared: the argument of Fn::GetAtt is a list, and a text is an Fn::Join of its parts without a separator. It
// changes the value.
func Canonical(value any) any {
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			value[i] = Canonical(element)
		}
	case map[string]any:
		for name, element := range value {
			value[name] = Canonical(element)
		}
		if attribute, ok := value["Fn::GetAtt"].(string); ok {
			return reference(attribute)
		}
		if parts := textParts(value); parts != nil {
			return joined(parts)
		}
	}
	return value
}

// reference returns the expression for a name in the text of Fn::Sub, or for a text in Fn::GetAtt.
func reference(name string) any {
	if id, attribute, ok := strings.Cut(name, "."); ok {
		return map[string]any{"Fn::GetAtt": []any{id, attribute}}
	}
	return map[string]any{"Ref": name}
}

// textParts returns the parts of an Fn::Join or Fn::Sub; nil for other values, and for those that have no such form.
func textParts(value map[string]any) (parts []any) {
	if arguments, _ := value["Fn::Join"].([]any); len(arguments) == 2 {
		elements, _ := arguments[1].([]any)
		for i, element := range elements {
			if i > 0 {
				parts = append(parts, arguments[0])
			}
			parts = append(parts, element)
		}
		return parts
	}
	argument, variables := value["Fn::Sub"], map[string]any{}
	if arguments, _ := argument.([]any); len(arguments) == 2 {
		argument = arguments[0]
		variables, _ = arguments[1].(map[string]any)
	}
	rest, ok := argument.(string)
	for ok {
		before, after, found := strings.Cut(rest, "${")
		parts = append(parts, before)
		name, after, closed := strings.Cut(after, "}")
		switch {
		case !found:
			return parts
		case !closed:
			return nil
		case strings.HasPrefix(name, "!"):
			parts = append(parts, "${"+name[1:]+"}")
		case variables[name] != nil:
			parts = append(parts, variables[name])
		default:
			parts = append(parts, reference(name))
		}
		rest = after
	}
	return nil
}

// joined returns the text of parts that are canonical.
func joined(parts []any) any {
	var all []any
	for _, part := range parts {
		within := []any{part}
		if inner, ok := part.(map[string]any); ok {
			if arguments, _ := inner["Fn::Join"].([]any); len(arguments) == 2 && arguments[0] == "" {
				within, _ = arguments[1].([]any)
			}
		}
		for _, one := range within {
			text, isText := one.(string)
			if last := len(all) - 1; isText && last >= 0 {
				if before, ok := all[last].(string); ok {
					all[last] = before + text
					continue
				}
			}
			if text != "" || !isText {
				all = append(all, one)
			}
		}
	}
	switch len(all) {
	case 0:
		return ""
	case 1:
		return all[0]
	}
	return map[string]any{"Fn::Join": []any{"", all}}
}
