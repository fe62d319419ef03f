package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// A run says once that the disk with its data is full, and so does the next one. It reads what it has.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("starts DynamoDB Local twice: go test without -short does")
	}
	t.Parallel()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("a small disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	data := func(o *run.Options) { o.Data, o.DynamoDB, o.AccessKey = folder, "", "" }
	const line = "the disk is full: "
	r, printed := start(t, template(), data)
	if strings.Contains(printed.String(), line) {
		t.Errorf("printed %s, and the disk has space", printed)
	}
	want(t, 200, "null")(call(t, "PUT", r.URL("")+"/items/a", `"1"`))
	file := must.Get(os.Create(filepath.Join(folder, "full")))(t)
	fill := func() {
		for err := error(nil); err == nil; {
			_, err = file.Write(make([]byte, 4096))
		}
	}
	fill()
	for _, path := range []string{"/items/b", "/objects/b", "/objects/b"} {
		want(t, 502, "StatusCode: 500")(call(t, "PUT", r.URL("")+path, `"1"`))
	}
	fill() // DynamoDB Local gives back what it had begun to write.
	_ = file.Close()
	want(t, 502, "issuer key")(call(t, "POST", r.ConsoleURL()+"/token", `{"sub":"a"}`))
	wait.Said(t, printed, line+folder)
	want(t, 200, "1")(call(t, "GET", r.URL("")+"/items/a", ""))
	if n := strings.Count(printed.String(), line); n != 1 {
		t.Errorf("said %d times: %s", n, printed)
	}
	r.Close()
	r, printed = start(t, template(), data)
	if !strings.HasPrefix(printed.String(), line+folder) {
		t.Errorf("the next start printed %s", printed)
	}
	// What was half written is no hindrance once there is space.
	must.OK(t, os.Remove(file.Name()))
	want(t, 200, "access_token")(call(t, "POST", r.ConsoleURL()+"/token", `{"sub":"a"}`))
	want(t, 200, "null")(call(t, "PUT", r.URL("")+"/items/b", `"1"`))
}
