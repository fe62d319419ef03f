package console

// Buses, and the events that came to them.

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/onesynth-cdk/onesynth/internal/services/events"
)

// Published are events of buses, the newest first.
type Published struct {
	Events []events.Event `json:"events"`
}

func (c *Console) published(r *http.Request) (any, error) {
	most, err := number(r, "limit", mostListed, limitListed)
	if err != nil {
		return nil, err
	}
	return Published{c.rooms.AWS.Events.Events(most, r.URL.Query().Get("search"))}, nil
}

// publish puts an event on a bus, past all roles.
func (c *Console) publish(r *http.Request) (any, error) {
	var request struct {
		Source     string          `json:"source"`
		DetailType string          `json:"detail_type"`
		Detail     json.RawMessage `json:"detail"`
	}
	if err := decode(r, &request); err != nil {
		return nil, &Problem{http.StatusBadRequest, fmt.Sprintf(
			`%v: write {"source": "platform", "detail_type": "Asked", "detail": {}}`, err)}
	}
	id, err := c.rooms.AWS.Events.Put(r.PathValue("name"), request.Source, request.DetailType, request.Detail)
	switch {
	case errors.Is(err, events.ErrNoBus):
		return nil, &Problem{http.StatusNotFound, err.Error()}
	case err != nil:
		return nil, &Problem{http.StatusBadRequest, err.Error()}
	}
	return map[string]string{"id": id}, nil
}
