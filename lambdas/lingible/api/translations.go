package api

// Translator is what the routes of translations call; [lingible.Translator] is one.
type Translator interface{}

func (s *server) registerTranslations() {}
