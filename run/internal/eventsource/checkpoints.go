package eventsource

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// checkpoints are the places in shards that event source mappings have reached, in a file that outlives the run.
type checkpoints struct {
	path string

	mutex sync.Mutex
	// places are sequence numbers by mapping and shard.
	places map[string]map[string]string
}

// openCheckpoints reads the file, if there is one. Without a path they end with the run.
func openCheckpoints(path string) (*checkpoints, error) {
	c := &checkpoints{path: path, places: map[string]map[string]string{}}
	if path == "" {
		return c, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("places in streams: %w", err)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c.places)
	}
	if err != nil {
		return nil, fmt.Errorf("places in streams: %s: %w: remove it and start again", path, err)
	}
	return c, nil
}

// of returns the places that the mapping has reached, by shard; none when no run has kept any.
func (c *checkpoints) of(mapping string) map[string]string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.places[mapping]
}

// reach keeps a place. The map that of returned does not change.
func (c *checkpoints) reach(mapping, shard, sequence string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	reached := map[string]string{shard: sequence}
	for other, place := range c.places[mapping] {
		if other != shard {
			reached[other] = place
		}
	}
	c.places[mapping] = reached
	if c.path == "" {
		return nil
	}
	text, err := json.Marshal(c.places)
	if err != nil {
		return fmt.Errorf("places in streams: %w", err)
	}
	// A run that ends meanwhile leaves the former file.
	unfinished := c.path + ".new"
	if err = os.WriteFile(unfinished, text, 0o600); err == nil {
		err = os.Rename(unfinished, c.path)
	}
	if err != nil {
		return fmt.Errorf("places in streams: %w", err)
	}
	return nil
}
