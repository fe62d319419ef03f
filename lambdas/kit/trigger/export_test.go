package trigger

// OpenPublisher is what StartPublisher does before it handles an event.
var OpenPublisher = openPublisher
