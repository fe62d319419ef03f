package lingible

// EntryKind is the sort key of a term's entry in the lexicon.
const EntryKind = "METADATA#lexicon"

// UserKey returns the primary key of a user's item, partition key first, for the access patterns of functions that a
// team adds.
func UserKey(user string) []any { return []any{"USER#" + user, "PROFILE"} }

// TranslationKey returns the primary key of a translation of the user, as [UserKey] does.
func TranslationKey(user, id string) []any { return []any{"USER#" + user, "TRANSLATION#" + id} }

// SubmissionKey returns the primary key of a submission of a term, as [UserKey] does. The slug is [Slug] of the term.
func SubmissionKey(slug, id string) []any { return []any{"TERM#" + slug, "SUBMISSION#" + id} }

// EntryKey returns the primary key of a term's entry in the lexicon, as [UserKey] does.
func EntryKey(slug string) []any { return []any{"TERM#" + slug, EntryKind} }
