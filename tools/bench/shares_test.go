package main

import (
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

func TestReadProfile(t *testing.T) {
	t.Parallel()
	got := must.Get(readProfile([]byte(`{"nodes":[
		{"id":1,"callFrame":{"functionName":"(root)","url":""},"children":[2,5,7]},
		{"id":2,"callFrame":{"functionName":"create","url":"file:///jsii/lib/program.js"},"children":[3]},
		{"id":3,"callFrame":{"functionName":"synth","url":"file:///k/node_modules/aws-cdk-lib/core/lib/stack.js"},"children":[4]},
		{"id":4,"callFrame":{"functionName":"copyFile","url":""}},
		{"id":5,"callFrame":{"functionName":"readSync","url":"node:fs"},"children":[6]},
		{"id":6,"callFrame":{"functionName":"read","url":""}},
		{"id":7,"callFrame":{"functionName":"(garbage collector)","url":""}}],
		"samples":[2,4,6,7,3],"timeDeltas":[1000,2000,4000,8000,16000]}`)))(t)
	if want := (shares{cdk: 18 * time.Millisecond, jsii: 9 * time.Millisecond,
		own: 4 * time.Millisecond}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, text := range []string{"", "{}", `{"samples":[1],"timeDeltas":[]}`} {
		if got, err := readProfile([]byte(text)); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
