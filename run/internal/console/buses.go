package console

// Buses, and the events that came to them.

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/onesynth-cdk/onesynth/run/internal/services/events"
)

// Published are events of buses, the newest first.
type Published struct {
	Events []events.Event `json:"events"`
}

func (c *Console) published(r *http.Request) (Published, error) {
	most, err := number(r, "limit", maxListed, limitListed)
	if err != nil {
		return Published{}, err
	}
	return Published{c.parts.AWS.Events.Events(most, r.URL.Query().Get("search"))}, nil
}

// Publication is the body of POST /buses/{name}/events.
type Publication struct {
	// Source is who publishes, such as "todo".
	Source string `json:"source"`
	// DetailType says what happened, such as "TaskCompleted".
	DetailType string `json:"detail_type"`
	// Detail is an object.
	Detail json.RawMessage `json:"detail"`
}

// PublishedID is the answer to POST /buses/{name}/events.
type PublishedID struct {
	// ID is that of the event.
	ID string `json:"id"`
}

// publish puts an event on a bus, past all roles.
func (c *Console) publish(r *http.Request, request Publication) (PublishedID, error) {
	id, err := c.parts.AWS.Events.Put(r.PathValue("name"), request.Source, request.DetailType, request.Detail)
	switch {
	case errors.Is(err, events.ErrNoBus):
		return PublishedID{}, &Problem{http.StatusNotFound, err.Error()}
	case err != nil:
		return PublishedID{}, &Problem{http.StatusBadRequest, err.Error()}
	}
	return PublishedID{id}, nil
}
