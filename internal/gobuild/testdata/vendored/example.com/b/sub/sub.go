package sub

import _ "embed"

//go:embed b.txt
var B string
