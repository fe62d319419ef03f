package askahuman

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// withWaiting gives the function agentapi time for reads that wait for news, 20 seconds at most. Amazon
// API Gateway ends a request after 30 seconds, which a start of the function has to fit in as well. The read has
// parameters that say how long.
func withWaiting(p *schema.Platform) {
	function(p, "agentapi").Timeout = 25 * time.Second
	for i, route := range p.Routes {
		if route.ID == ReadQuestion.ID {
			p.Routes[i] = schema.Routes(ReadQuestion)[0]
		}
	}
	p.Metrics = append(p.Metrics, schema.Metric{
		Name: "Waited", Function: "agentapi", Unit: schema.Count, SlowOnPurpose: true,
		Description: "reads that waited a second or longer for news of a question",
	})
}
