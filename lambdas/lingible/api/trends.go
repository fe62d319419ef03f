package api

// Trends is what the route of trends calls; [lingible.Trends] is one.
type Trends interface{}

func (s *server) registerTrends() {}
