package inmem_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) storetest.Store { return &inmem.Store{Quota: storetest.Quota} })
	storetest.RunAgentKeys(t, func(*testing.T) askahuman.AgentKeyStore { return &inmem.Store{} })
}
