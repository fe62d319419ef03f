// Package pushtest gives tests Firebase Cloud Messaging as a local run has it.
package pushtest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/services/fcm"
)

// Server keeps the messages that it takes, and fails on request.
type Server struct {
	*fcm.Inbox
	server *httptest.Server

	mutex   sync.Mutex
	instead func(http.ResponseWriter, *http.Request) bool
}

// Start serves Firebase Cloud Messaging and its token endpoint until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	s.Inbox = fcm.New(s.server.URL)
	return s
}

// Close ends the server before the test does.
func (s *Server) Close() { s.server.Close() }

// Instead sets what sees each request first from now on, and answers it if it returns true. It may be nil.
func (s *Server) Instead(answer func(http.ResponseWriter, *http.Request) bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.instead = answer
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	instead := s.instead
	s.mutex.Unlock()
	if instead == nil || !instead(w, r) {
		s.Inbox.ServeHTTP(w, r)
	}
}

// Account returns a key file of a service account of the server, with changes.
func (s *Server) Account(t testing.TB, changes map[string]any) []byte {
	t.Helper()
	file := map[string]any{}
	must.OK(t, json.Unmarshal([]byte(must.Get(s.ServiceAccount(""))(t)), &file))
	maps.Copy(file, changes)
	return must.Get(json.Marshal(file))(t)
}
