package schema

import "slices"

// Pattern returns an access pattern with this operation on a table. A GetItem is strongly consistent.
func (o Operation) Pattern(name, table, description string) AccessPattern {
	return AccessPattern{Name: name, Description: description, Operation: o, Table: table, Consistent: o == GetItem}
}

// Transaction returns an access pattern with several writes.
func Transaction(name, description string, writes ...Write) AccessPattern {
	return AccessPattern{Name: name, Description: description, Operation: TransactWriteItems, Writes: writes}
}

// On returns a part of a transaction with this operation on a table.
func (o Operation) On(table, description string) Write {
	return Write{Table: table, Operation: o, Description: description}
}

// IfNeeded returns the write as one that only some of the transactions have.
func (w Write) IfNeeded() Write {
	w.Optional = true
	return w
}

// ForEach returns the write as one that a transaction may have several times, each for another item.
func (w Write) ForEach() Write {
	w.Repeated = true
	return w
}

// By returns the pattern as a Query by these conditions on the key of an index, or of the table for "".
func (p AccessPattern) By(index string, conditions ...KeyCondition) AccessPattern {
	p.Index, p.KeyConditions = index, conditions
	return p
}

// Where returns a condition on an attribute of a key.
func Where(attribute string, comparison Comparison) KeyCondition {
	return KeyCondition{Attribute: attribute, Comparison: comparison}
}

// Downwards returns the pattern as a Query from the highest sort key on, such as the newest item.
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

// InOrigin returns the pattern with the origin's own wording of it.
func (p AccessPattern) InOrigin(wording string) AccessPattern {
	p.Origin = wording
	return p
}

// Costing returns the pattern with its cost as the origin states it.
func (p AccessPattern) Costing(cost string) AccessPattern {
	p.OriginCost = cost
	return p
}

// Across returns the pattern as a BatchGetItem of an item in each of several tables.
func (p AccessPattern) Across(tables ...string) AccessPattern {
	p.Tables = tables
	return p
}

// ForOthers returns the pattern as one for functions that join the platform.
func (p AccessPattern) ForOthers() AccessPattern {
	p.Offered = true
	return p
}

// ForOperators returns the pattern as one for a command of operators.
func (p AccessPattern) ForOperators() AccessPattern {
	p.ByOperators = true
	return p
}

// UsedBy returns the pattern as one that these functions use, too.
func (p AccessPattern) UsedBy(functions ...string) AccessPattern {
	p.Functions = slices.Concat(p.Functions, functions)
	return p
}

// UsedBy returns the patterns, where this function uses each that names no function and is neither ForOthers nor
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

// Existing names a pattern of the platform that [Own] joins, for the team's functions:
// Existing("GetTask").UsedBy("report").
func Existing(name string) AccessPattern { return AccessPattern{Name: name} }
