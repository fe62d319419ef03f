package schema

import "slices"

// Pattern returns an access pattern with this action on a table. A GetItem is strongly consistent.
func (a Action) Pattern(name, table, description string) AccessPattern {
	return AccessPattern{Name: name, Description: description, Action: a, Table: table, Consistent: a == GetItem}
}

// Transaction returns an access pattern with several writes.
func Transaction(name, description string, writes ...Write) AccessPattern {
	return AccessPattern{Name: name, Description: description, Action: TransactWriteItems, Writes: writes}
}

// On returns a write of a transaction, with this action on a table.
func (a Action) On(table, description string) Write {
	return Write{Table: table, Action: a, Description: description}
}

// IfNeeded returns the write marked as optional: a transaction may leave it out.
func (w Write) IfNeeded() Write {
	w.Optional = true
	return w
}

// ForEach returns the write marked as repeated: a transaction may have several, each for another item.
func (w Write) ForEach() Write {
	w.Repeated = true
	return w
}

// By returns the pattern as a Query with these conditions on the key of an index. The index "" is the table's own key.
func (p AccessPattern) By(index string, conditions ...KeyCondition) AccessPattern {
	p.Index, p.KeyConditions = index, conditions
	return p
}

// Where returns a condition on an attribute of a key.
func Where(attribute string, comparison Comparison) KeyCondition {
	return KeyCondition{Attribute: attribute, Comparison: comparison}
}

// Downwards returns the pattern as a Query in descending order of the sort key, such as the newest item first.
func (p AccessPattern) Downwards() AccessPattern {
	p.Descending = true
	return p
}

// Consistently returns the pattern as a strongly consistent read.
func (p AccessPattern) Consistently() AccessPattern {
	p.Consistent = true
	return p
}

// Eventually returns the pattern as a read that need not see the last writes.
func (p AccessPattern) Eventually() AccessPattern {
	p.Consistent = false
	return p
}

// Returning returns the pattern as a read of these attributes alone.
func (p AccessPattern) Returning(attributes ...string) AccessPattern {
	p.Attributes = attributes
	return p
}

// Filtering returns the pattern as a Query whose filter names these attributes.
func (p AccessPattern) Filtering(attributes ...string) AccessPattern {
	p.Filter = attributes
	return p
}

// InOrigin returns the pattern with its wording in the origin (see [Database]).
func (p AccessPattern) InOrigin(wording string) AccessPattern {
	p.Origin = wording
	return p
}

// Costing returns the pattern with its cost as the origin states it (see [Database]).
func (p AccessPattern) Costing(cost string) AccessPattern {
	p.OriginCost = cost
	return p
}

// Across returns the pattern as a BatchGetItem that reads an item of each of these tables.
func (p AccessPattern) Across(tables ...string) AccessPattern {
	p.Tables = tables
	return p
}

// ForOthers returns the pattern marked for functions that teams add ([Own]): no function of the platform has to use it.
func (p AccessPattern) ForOthers() AccessPattern {
	p.Offered = true
	return p
}

// ForOperators returns the pattern marked for a command of operators: no function has to use it.
func (p AccessPattern) ForOperators() AccessPattern {
	p.ByOperators = true
	return p
}

// UsedBy returns the pattern with these functions added to its Functions.
func (p AccessPattern) UsedBy(functions ...string) AccessPattern {
	p.Functions = slices.Concat(p.Functions, functions)
	return p
}

// UsedBy returns the patterns with the function added to each that names no function and is neither ForOthers nor
// ForOperators.
func UsedBy(function string, patterns ...AccessPattern) []AccessPattern {
	used := slices.Clone(patterns)
	for i, p := range used {
		if len(p.Functions) == 0 && !p.Offered && !p.ByOperators {
			used[i] = p.UsedBy(function)
		}
	}
	return used
}

// Existing refers to an access pattern of the imported platform by its name, in [Own]:
// Existing("GetTask").UsedBy("report") lets the team's function report use it.
func Existing(name string) AccessPattern { return AccessPattern{Name: name} }
