package page

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/page"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// firebase stands in for Firebase Installations and the registrations of Firebase Cloud Messaging: the requests,
// headers and errors that Firebase's own JavaScript library (packages installations and messaging) sends and expects.
type firebase struct {
	*httptest.Server
	settings page.Firebase
	// fails is the status of all answers; 0: the service works. -1: it closes each connection.
	fails atomic.Int32
	// renewed counts the tokens of installations that replaced earlier ones.
	renewed atomic.Int32

	mutex sync.Mutex
	// wrong are requests that are none of the protocol.
	wrong []string
	// refresh are the refresh tokens of installations, and auth their tokens of the moment; endpoints are what tokens
	// are registered for.
	refresh, auth, endpoints map[string]string
}

func startFirebase(t *testing.T) *firebase {
	f := &firebase{
		settings: page.Firebase{APIKey: "AIzaSyA-public-key-of-a-web-app", ProjectID: "ask-a-human-test",
			AppID: "1:123456789012:web:0123456789abcdef", VAPIDKey: "B" + strings.Repeat("Aw", 43)},
		refresh: map[string]string{}, auth: map[string]string{}, endpoints: map[string]string{},
	}
	f.Server = httptest.NewTLSServer(f)
	t.Cleanup(func() {
		f.Close()
		for _, wrong := range f.wrong {
			t.Errorf("a request is none of Firebase's protocol: %s", wrong)
		}
	})
	return f
}

// flags make a browser reach the stand-in by the names of the services, whose certificates it has not.
func (f *firebase) flags() []chromedp.ExecAllocatorOption {
	return []chromedp.ExecAllocatorOption{
		chromedp.Flag("host-resolver-rules", fmt.Sprintf("MAP firebaseinstallations.googleapis.com:443 %[1]s, "+
			"MAP fcmregistrations.googleapis.com:443 %[1]s", f.Listener.Addr())),
		chromedp.Flag("ignore-certificate-errors", true),
	}
}

// ending ends the tokens of the service.
const ending = ":APA91b"

// tokens are the tokens in use.
func (f *firebase) tokens() []string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return slices.Collect(maps.Keys(f.endpoints))
}

var installationID = regexp.MustCompile(`^[cdef][\w-]{21}$`)

func (f *firebase) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	if r.Method == http.MethodOptions {
		header.Set("Access-Control-Allow-Methods", "DELETE,GET,HEAD,PATCH,POST,PUT")
		header.Set("Access-Control-Allow-Headers",
			"authorization,content-type,x-goog-api-key,x-goog-firebase-installations-auth")
		return
	}
	header.Set("Content-Type", "application/json; charset=UTF-8")
	refuse := func(status int, name string) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"error": map[string]any{"code": status, "message": "refused by the stand-in", "status": name}})
	}
	invalid := func(what string) {
		f.wrong = append(f.wrong, r.Method+" "+r.Host+r.URL.Path+": "+what)
		refuse(http.StatusBadRequest, "INVALID_ARGUMENT")
	}
	if fails := int(f.fails.Load()); fails < 0 {
		panic(http.ErrAbortHandler)
	} else if fails > 0 {
		refuse(fails, "INTERNAL")
		return
	}
	if got := r.Header.Get("x-goog-api-key"); got != f.settings.APIKey {
		invalid("the key " + got)
		return
	}
	var body struct {
		FID, AuthVersion, AppID, SDKVersion string
		Installation                        struct{ SDKVersion string }
		Web                                 struct{ Endpoint, P256DH, Auth, ApplicationPubKey string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		invalid(err.Error())
		return
	}
	project := "/v1/projects/" + f.settings.ProjectID
	switch path, token, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, project), "/registrations"); {
	case r.Host == "firebaseinstallations.googleapis.com" && r.Method == http.MethodPost && path == "/installations":
		if !installationID.MatchString(body.FID) || body.AuthVersion != "FIS_v2" || body.AppID != f.settings.AppID ||
			!strings.HasPrefix(body.SDKVersion, "w:") {
			invalid(fmt.Sprintf("%+v", body))
			return
		}
		f.refresh[body.FID], f.auth[body.FID] = onesynthtest.Unique("refresh"), onesynthtest.Unique("auth")
		_ = json.NewEncoder(w).Encode(map[string]any{"fid": body.FID, "refreshToken": f.refresh[body.FID],
			"authToken": map[string]string{"token": f.auth[body.FID], "expiresIn": "604800s"}})
	case r.Host == "firebaseinstallations.googleapis.com" && r.Method == http.MethodPost &&
		strings.HasSuffix(path, "/authTokens:generate"):
		id := strings.TrimSuffix(strings.TrimPrefix(path, "/installations/"), "/authTokens:generate")
		if f.refresh[id] == "" || r.Header.Get("Authorization") != "FIS_v2 "+f.refresh[id] ||
			!strings.HasPrefix(body.Installation.SDKVersion, "w:") {
			invalid(r.Header.Get("Authorization"))
			return
		}
		f.auth[id] = onesynthtest.Unique("auth")
		f.renewed.Add(1)
		_ = json.NewEncoder(w).Encode(map[string]string{"token": f.auth[id], "expiresIn": "604800s"})
	case r.Host == "fcmregistrations.googleapis.com" && path == "" &&
		(r.Method == http.MethodPost && token == "" || r.Method == http.MethodPatch && token != ""):
		f.register(w, r, strings.TrimPrefix(token, "/"), body.Web.Endpoint, invalid, refuse)
		if body.Web.P256DH == "" || body.Web.Auth == "" || body.Web.ApplicationPubKey != f.settings.VAPIDKey {
			f.wrong = append(f.wrong, fmt.Sprintf("%+v", body.Web))
		}
	default:
		invalid("no such method")
	}
}

// register gives an endpoint a token. The token of an endpoint that has one stays.
func (f *firebase) register(w http.ResponseWriter, r *http.Request, token, endpoint string, invalid func(string),
	refuse func(int, string)) {
	known := false
	for _, auth := range f.auth {
		known = known || r.Header.Get("x-goog-firebase-installations-auth") == "FIS "+auth
	}
	_, registered := f.endpoints[token]
	switch {
	case !known || !strings.HasPrefix(endpoint, "https://"):
		invalid(endpoint)
		return
	case token != "" && !registered:
		refuse(http.StatusNotFound, "NOT_FOUND")
		return
	case f.endpoints[token] != endpoint:
		delete(f.endpoints, token)
		token = onesynthtest.Unique("device") + ending
		f.endpoints[token] = endpoint
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"token": token, "web": map[string]string{"endpoint": endpoint}})
}
