// Package browser gives tests a real Chromium: it finds the one of this machine, starts it without a window, and drives
// its pages. The browser needs no network but the test's own servers.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Variable names the environment variable with the path of a browser.
const Variable = "CHROMIUM"

// ErrNone says that this machine has no browser that the tests can drive, and what to do.
var ErrNone = errors.New("no Chromium found: install one (Debian and Ubuntu: apt-get install chromium; macOS: brew " +
	"install --cask chromium, or Google Chrome), " +
	"or give its path in the variable " + Variable)

// names are those of the commands, in the order in which they are tried.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
	"microsoft-edge"}

// applications are where macOS has them.
var applications = []string{
	"Chromium.app/Contents/MacOS/Chromium", "Google Chrome.app/Contents/MacOS/Google Chrome",
	"Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
}

// Find returns the path of a browser. [Variable] names it; otherwise it is the first on the PATH, or in macOS's folders
// of applications. The error is ErrNone.
func Find() (string, error) {
	if given := os.Getenv(Variable); given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return "", fmt.Errorf("%w: got %s=%q: %w", ErrNone, Variable, given, err)
		}
		return path, nil
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	if runtime.GOOS == "darwin" {
		home, _ := os.UserHomeDir()
		for _, folder := range []string{"/Applications", filepath.Join(home, "Applications")} {
			for _, application := range applications {
				path := filepath.Join(folder, application)
				if _, err := os.Stat(path); err == nil {
					return path, nil
				}
			}
		}
	}
	return "", ErrNone
}

// Require returns the path of a browser. Without one it skips the test, or fails it where the variable CI is set.
func Require(t testing.TB) string {
	t.Helper()
	path, err := Find()
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	return path
}

// Browser is a running browser.
type Browser struct {
	ctx   context.Context
	close func()
}

// Start starts the browser at the path with a profile of its own. Close ends it. Options come after those of all tests.
func Start(path string, more ...chromedp.ExecAllocatorOption) (*Browser, error) {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.DisableGPU,
		// The pages are the tests' own, and in a container the user is often root, for whom there is no sandbox.
		chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), WithoutFeatures())
	allocated, end := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	ctx, cancel := chromedp.NewContext(allocated)
	b := &Browser{ctx, func() {
		cancel()
		end()
	}}
	if err := chromedp.Do(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("start the browser %s: %w", path, err)
	}
	return b, nil
}

// WithoutFeatures is the option of a browser that lacks these features, besides those that no test wants.
func WithoutFeatures(features ...string) chromedp.ExecAllocatorOption {
	return chromedp.Flag("disable-features",
		strings.Join(append(features, "Translate", "MediaRouter", "OptimizationHints", "DialMediaRouteProvider"), ","))
}

// Close ends the browser.
func (b *Browser) Close() {
	if b != nil {
		b.close()
	}
}
