package api

// Users is what the routes of users call; [lingible.Users] is one.
type Users interface{}

func (s *server) registerUsers() {}
