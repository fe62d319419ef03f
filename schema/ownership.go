package schema

// OwnedKind says what the deletion of a person makes of what the person owns.
type OwnedKind string

// The kinds.
const (
	// DeleteOwned deletes items.
	DeleteOwned OwnedKind = "delete"
	// AnonymiseOwned takes the person out of items, which stay.
	AnonymiseOwned OwnedKind = "anonymise"
	// DecrementOwned takes the person out of counters of others' items, and deletes the person's notes of that.
	DecrementOwned OwnedKind = "decrement"
	// HookOwned is what only the platform's service can do, such as with others' items that name the person.
	HookOwned OwnedKind = "hook"
	// LeaveOwned leaves items, which end by themselves.
	LeaveOwned OwnedKind = "leave"
)

// Owned is something that a person owns in the tables of a platform.
type Owned struct {
	// Name says what it is, such as "tasks". Errors name it, and a hook has this name.
	Name string
	// Kind says what a deletion makes of it.
	Kind OwnedKind
	// List names the Query that lists the items by their partition key. Empty: there is one item.
	List string
	// Write names the DeleteItem, or the UpdateItem of AnonymiseOwned, of one of the items.
	Write string
	// Partition begins the value of the partition key; the person's id follows.
	Partition string
	// Sort begins the sort keys of the items. Empty: all are meant.
	Sort string
	// From is the value in the second condition of List. Empty: it has none.
	From string
	// Fields are the attributes that AnonymiseOwned removes. The first one has the person's id.
	Fields []string
	// Counter is what DecrementOwned counts down for each listed item.
	Counter Counter
	// Key returns the key of the item that AnonymiseOwned or Counter changes, from the text attributes of a listed one.
	Key func(person string, listed map[string]string) []any
	// Table has what LeaveOwned leaves.
	Table string
	// Until says until when LeaveOwned leaves it, such as "for 30 days".
	Until string
}

// Counter counts people in an item.
type Counter struct {
	// Update names the UpdateItem that changes the item.
	Update string
	// Name is the attribute that counts, and Members the set with the ids of who was counted.
	Name, Members string
}

// validateOwned checks that the patterns exist, and do what the kind needs.
func (p Platform) validateOwned(f *findings) {
	unique(f, "Owned", p.Owned, func(o Owned) string { return o.Name })
	for _, o := range p.Owned {
		need := func(field, pattern string, action Action) {
			found, ok := p.Database.AccessPattern(pattern)
			if path := "Owned[" + o.Name + "]." + field; !ok || found.Action != action {
				f.add(path, quoted(pattern), "name an access pattern that is a %s", action)
			}
		}
		if o.List != "" {
			need("List", o.List, Query)
		}
		if (o.Kind == AnonymiseOwned || o.Kind == DecrementOwned) && o.Key == nil {
			f.add("Owned["+o.Name+"].Key", "", "say which item a listed one names")
		}
		switch o.Kind {
		case DeleteOwned:
			need("Write", o.Write, DeleteItem)
		case AnonymiseOwned:
			need("Write", o.Write, UpdateItem)
			if len(o.Fields) == 0 {
				f.add("Owned["+o.Name+"].Fields", "", "name the attributes to remove, the person's id first")
			}
		case DecrementOwned:
			need("Write", o.Write, DeleteItem)
			need("Counter.Update", o.Counter.Update, UpdateItem)
		case LeaveOwned:
			if _, ok := p.Database.Table(o.Table); !ok || o.Until == "" {
				f.add("Owned["+o.Name+"]", quoted(o.Table), "name the table, and say in Until when the items end")
			}
		case HookOwned:
		default:
			f.add("Owned["+o.Name+"].Kind", quoted(string(o.Kind)), "write one of the kinds of OwnedKind")
		}
	}
}
