package props

import (
	"bytes"
	"io"
	"os"
	"time"

	"github.com/aws/jsii-runtime-go"
)

// jsii waits twice for its process, and prints what the second wait returns, without the end of a line.
var (
	secondWait = []byte("Runtime process exited abnormally: waitid: no child processes")
	// secondWaitTime is how long after the first wait the second one may end: it is waiting already.
	secondWaitTime = 20 * time.Millisecond
)

// Close ends the process of the CDK, as jsii.Close does. It leaves out jsii's line "Runtime process exited
// abnormally", which is printed after successful runs, too.
func Close() {
	stderr := os.Stderr
	read, write, err := os.Pipe()
	if err != nil {
		jsii.Close()
		return
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		printed, _ := io.ReadAll(read)
		_, _ = stderr.Write(bytes.ReplaceAll(printed, secondWait, nil))
	}()
	os.Stderr = write
	jsii.Close()
	time.Sleep(secondWaitTime)
	os.Stderr = stderr
	_ = write.Close()
	<-copied
	_ = read.Close()
}
