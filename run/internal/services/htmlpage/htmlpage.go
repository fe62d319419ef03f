// Package htmlpage has the headers of a document for people that has one style sheet and no script.
package htmlpage

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
)

// SetHeaders sets the headers of a document with this style sheet. formAction lists where its forms may go, as
// Content-Security-Policy writes it.
func SetHeaders(h http.Header, style, formAction string) {
	digest := sha256.Sum256([]byte(style))
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+
		base64.StdEncoding.EncodeToString(digest[:])+"'; base-uri 'none'; frame-ancestors 'none'; form-action "+
		formAction)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}
