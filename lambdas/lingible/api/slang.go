package api

// Moderation is what the routes of submissions call; [lingible.Moderation] is one.
type Moderation interface{}

func (s *server) registerSlang() {}
