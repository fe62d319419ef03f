// Command cursor signs a cursor that belongs to no list: it does not compile.
package main

import (
	"fmt"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

func main() { fmt.Println(dynamo.CursorKey("0123456789abcdef").Sign("position")) }
