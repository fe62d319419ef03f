package kit

import _ "embed"

//go:embed words.txt
var words string
