package intrinsic

// References returns the logical ids that a canonical value names, with those of parameters.
func References(value any) []string {
	var ids []string
	switch value := value.(type) {
	case map[string]any:
		if id, ok := value["Ref"].(string); ok {
			ids = append(ids, id)
		}
		if attribute, _ := value["Fn::GetAtt"].([]any); len(attribute) > 0 {
			if id, ok := attribute[0].(string); ok {
				ids = append(ids, id)
			}
		}
		for _, element := range value {
			ids = append(ids, References(element)...)
		}
	case []any:
		for _, element := range value {
			ids = append(ids, References(element)...)
		}
	}
	return ids
}
