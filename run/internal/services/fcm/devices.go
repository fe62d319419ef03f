package fcm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// keptForDevice is how many messages wait for a device that is away; older ones are dropped. FCM keeps 100, too.
const keptForDevice = 100

// devicePrefix begins the paths at which pages are devices.
const devicePrefix = "/devices/"

// ForPages reports whether pages may ask for the path: it is that of a device.
func ForPages(path string) bool { return strings.HasPrefix(path, devicePrefix) }

// device is a page that shows the messages to a token. While it is away, its messages wait.
type device struct {
	waiting []Message
	// came is closed when a message has come.
	came chan struct{}
}

// device returns the device of a token. The inbox's lock is held.
func (i *Inbox) device(token string) *device {
	d := i.devices[token]
	if d == nil {
		d = &device{came: make(chan struct{})}
		i.devices[token] = d
	}
	return d
}

// deliver hands a message to the page that is the device of its token, if there is one. The lock is held.
func (i *Inbox) deliver(m Message) {
	d := i.devices[m.Token]
	if d == nil {
		return
	}
	if d.waiting = append(d.waiting, m); len(d.waiting) > keptForDevice {
		d.waiting = d.waiting[1:]
	}
	close(d.came)
	d.came = make(chan struct{})
}

// take removes and returns what waits for a token. came is closed when more has come.
func (i *Inbox) take(token string) (waiting []Message, came <-chan struct{}) {
	i.mu.Lock()
	defer i.mu.Unlock()
	d := i.device(token)
	waiting, d.waiting = d.waiting, nil
	return waiting, d.came
}

// listen makes a page the device of a token until it goes away. It gets each message as an event (HTML Standard,
// section 9.2, "Server-sent events"). Of several pages with one token one gets a message.
func (i *Inbox) listen(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	if origin := r.Header.Get("Origin"); origin != "" {
		// The guard of the inbox has let the page in.
		h.Set("Access-Control-Allow-Origin", origin)
	}
	// A page that has gone leaves what comes to the next one of its token.
	for r.Context().Err() == nil {
		waiting, came := i.take(r.PathValue("token"))
		for _, m := range waiting {
			event, err := eventOf(m)
			if err != nil {
				continue // send has taken messages in this form alone
			}
			_, _ = fmt.Fprintf(w, "id: %s\ndata: %s\n\n", m.Name, event) // a page that has gone ends the request
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			return
		}
		select {
		case <-came:
		case <-r.Context().Done():
			return
		case <-i.closed:
			return
		}
	}
}

// eventOf returns a message in the form in which FCM gives it to a browser, as JSON in one line.
func eventOf(m Message) ([]byte, error) {
	var sent struct {
		Notification json.RawMessage   `json:"notification"`
		Data         map[string]string `json:"data"`
		Webpush      struct {
			Notification json.RawMessage `json:"notification"`
			Options      struct {
				Link string `json:"link"`
			} `json:"fcm_options"`
		} `json:"webpush"`
	}
	if err := json.Unmarshal(m.Message, &sent); err != nil {
		return nil, fmt.Errorf("message %s: %w", m.Name, err)
	}
	event := map[string]any{"from": m.Project, "fcmMessageId": m.Name}
	if sent.Notification != nil {
		event["notification"] = sent.Notification
	}
	if sent.Webpush.Notification != nil {
		event["notification"] = sent.Webpush.Notification
	}
	if sent.Data != nil {
		event["data"] = sent.Data
	}
	if link := sent.Webpush.Options.Link; link != "" {
		event["fcmOptions"] = map[string]string{"link": link}
	}
	return json.Marshal(event)
}

// Close ends the requests of pages that are devices. It is safe to call more than once.
func (i *Inbox) Close() { i.closing.Do(func() { close(i.closed) }) }
