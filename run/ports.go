package run

// The ports that a run listens on.

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

const (
	firstPort     = 8080
	searchedPorts = 100
)

// ports are open from the beginning of a run, so that each part knows the addresses of the others.
type ports struct {
	aws, inbox, console net.Listener
	apis                map[apiName]net.Listener
}

// apiName tells an HTTP API from the others of a run, and stays when the assembly changes.
type apiName struct{ stack, logicalID string }

func nameOf(api *assembly.Resource) apiName { return apiName{api.Stack.Name, api.LogicalID} }

func openPorts(options Options) (_ *ports, err error) {
	p := &ports{apis: map[apiName]net.Listener{}}
	for _, of := range []struct {
		what     string
		listener *net.Listener
		port     int
	}{{"AWS endpoint", &p.aws, 0}, {"push inbox", &p.inbox, 0}, {"console", &p.console, options.ConsolePort}} {
		if *of.listener, err = listen(of.port); err != nil {
			p.close()
			return nil, fmt.Errorf("%s: %w: stop what uses it, or choose another with --console-port, or by "+
				"make run PORT=9080", of.what, err)
		}
	}
	return p, nil
}

// close closes all of them. A server closes its own earlier.
func (p *ports) close() {
	for _, listener := range []net.Listener{p.aws, p.inbox, p.console} {
		if listener != nil {
			_ = listener.Close()
		}
	}
	for _, listener := range p.apis {
		_ = listener.Close()
	}
}

// url is the address of a listener.
func url(listener net.Listener) string { return "http://" + listener.Addr().String() }

func listen(port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: %d", ErrPort, port)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on 127.0.0.1: %w", err)
	}
	return listener, nil
}

// listenAPI opens the port of the stack's next API.
func (p *ports) listenAPI(stack *assembly.Stack, options Options) (net.Listener, error) {
	port := options.Port
	own, ok := options.Ports[stack.DisplayID]
	if !ok {
		own, ok = options.Ports[stack.Name]
	}
	switch {
	case ok:
		port = own
		for name := range p.apis {
			if name.stack == stack.Name && own > 0 {
				return listenFree(own + 1)
			}
		}
	case port > 0:
		port += len(p.apis)
	case port == PlatformPorts:
		if port = stack.LocalPort(); port == 0 {
			return listenFree(firstPort)
		}
		// The first API that asks for the port has it. Others of the stack, and of a second stack of the same platform,
		// take the next free ones.
		for _, listener := range p.apis {
			if listener.Addr().(*net.TCPAddr).Port == port {
				return listenFree(port + 1)
			}
		}
	}
	listener, err := listen(port)
	if err != nil {
		return nil, fmt.Errorf("stack %s: %w: stop what uses it, or choose another with --port (0 takes any free "+
			"one), or by make run PORT=9080", stack.Name, err)
	}
	return listener, nil
}

func listenFree(first int) (net.Listener, error) {
	for port := first; port <= first+searchedPorts; port++ {
		listener, err := listen(port)
		if !errors.Is(err, ErrPort) {
			return listener, err
		}
	}
	return nil, fmt.Errorf("%w: all from %d to %d", ErrPort, first, first+searchedPorts)
}
