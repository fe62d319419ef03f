package dynamodb

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/engine"
)

// connections speak HTTP/1.1 to the engine, each in the goroutine of the request that uses it. http.Transport hands
// every request to two goroutines of the connection; on an otherwise idle machine this costs more than the rest of
// the endpoint.
type connections struct {
	address   string
	head      string
	accessKey string
	region    string

	mutex sync.Mutex
	idle  []*connection
}

type connection struct {
	net.Conn
	reader *bufio.Reader
	buffer bytes.Buffer
	since  time.Time
}

// staleAfter is less than the 30 s after which the engine's server closes idle connections.
const staleAfter = 20 * time.Second

// newConnections makes connections to the database of an access key.
func newConnections(address, path, accessKey, region string) *connections {
	return &connections{address: address, accessKey: accessKey, region: region,
		head: "POST " + path + " HTTP/1.1\r\nHost: " + address +
			"\r\nContent-Type: application/x-amz-json-1.0\r\nAccept-Encoding: identity"}
}

func (c *connections) get(ctx context.Context) (*connection, error) {
	c.mutex.Lock()
	for len(c.idle) > 0 {
		last := c.idle[len(c.idle)-1]
		c.idle = c.idle[:len(c.idle)-1]
		if time.Since(last.since) < staleAfter {
			c.mutex.Unlock()
			return last, nil
		}
		_ = last.Close()
	}
	c.mutex.Unlock()
	opened, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", c.address)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: opened, reader: bufio.NewReaderSize(opened, 16<<10)}, nil
}

func (c *connections) put(connection *connection) {
	connection.since = time.Now()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.idle = append(c.idle, connection)
}

// post sends one request and reads its answer. A request that failed may have been done: it is never sent again here.
func (c *connections) post(ctx context.Context, target string, body []byte) (status int, header http.Header,
	answer []byte, err error) {
	connection, err := c.get(ctx)
	if err != nil {
		return 0, nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = connection.SetDeadline(time.Now()) })
	date, authorization := engine.Headers(c.accessKey, c.region, time.Now())
	status, header, answer, keep, err := connection.exchange(
		c.head+"\r\nX-Amz-Date: "+date+"\r\nAuthorization: "+authorization, target, body)
	// Without stop, the deadline could end a later request.
	if stop() && keep && err == nil {
		c.put(connection)
	} else {
		_ = connection.Close()
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return status, header, answer, err
}

func (c *connection) exchange(head, target string, body []byte) (status int, header http.Header, answer []byte,
	keep bool, err error) {
	c.buffer.Reset()
	c.buffer.WriteString(head)
	c.buffer.WriteString("\r\nX-Amz-Target: ")
	c.buffer.WriteString(target)
	c.buffer.WriteString("\r\nContent-Length: ")
	c.buffer.WriteString(strconv.Itoa(len(body)))
	c.buffer.WriteString("\r\n\r\n")
	c.buffer.Write(body)
	if _, err := c.Write(c.buffer.Bytes()); err != nil {
		return 0, nil, nil, false, fmt.Errorf("send request: %w", err)
	}
	if c.buffer.Cap() > 1<<20 {
		c.buffer = bytes.Buffer{}
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, nil, nil, false, fmt.Errorf("read answer: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.ContentLength > 0 {
		answer = make([]byte, response.ContentLength)
		_, err = io.ReadFull(response.Body, answer)
	} else {
		answer, err = io.ReadAll(response.Body)
	}
	if err != nil {
		return 0, nil, nil, false, fmt.Errorf("read answer: %w", err)
	}
	return response.StatusCode, response.Header, answer, !response.Close, nil
}
