package engine

import "context"

// LookAtAll looks at all items that are due, as Run does, without its pauses.
func (s *Sweeper) LookAtAll(ctx context.Context) error {
	for {
		looked, _, err := s.look(ctx)
		if err != nil || looked == 0 {
			return err
		}
	}
}
