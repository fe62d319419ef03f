package inmem_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/storetest"
)

func TestAgentKeys(t *testing.T) {
	t.Parallel()
	storetest.RunAgentKeys(t, func(*testing.T) askahuman.AgentKeyStore { return &inmem.AgentKeys{} })
}
