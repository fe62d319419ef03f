package api

// Quiz is what the routes of the quiz call; [lingible.Quiz] is one.
type Quiz interface{}

func (s *server) registerQuiz() {}
