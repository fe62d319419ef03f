package publisher

// Open is what Start does before it handles an event.
var Open = open
