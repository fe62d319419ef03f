package links

import (
	"net/http"

	"github.com/onesynth-cdk/onesynth/schema"
)

// CodeParams name a link.
type CodeParams struct {
	Code string `path:"code"`
}

// ListParams say which page of a list is meant.
type ListParams struct {
	Cursor string `query:"cursor"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
}

// Page is a part of a list.
type Page struct {
	Links      []Link `json:"links" nullable:"false"`
	NextCursor string `json:"next_cursor,omitempty" doc:"Where the list goes on; absent at its end."`
}

// The operations: each is a route, its checks and its part of the document.
var (
	CreateLink = schema.Operation[schema.None, Link, Link]{
		ID: "createLink", Route: "POST /links", Function: "linksapi", Caller: schema.CallerUser, RateLimit: "create",
		Summary: "Make a link", Status: http.StatusCreated, Key: schema.KeyRequired, Errors: []error{ErrTaken}}
	ListLinks = schema.Operation[ListParams, schema.None, Page]{
		ID: "listLinks", Route: "GET /links", Function: "linksapi", Caller: schema.CallerUser,
		Summary: "List one's own links, the newest first"}
	GetLink = schema.Operation[CodeParams, schema.None, Link]{
		ID: "getLink", Route: "GET /links/{code}", Function: "linksapi", Caller: schema.CallerUser,
		Summary: "Read one of one's own links", Errors: []error{ErrNotFound}}
	DeleteLink = schema.Operation[CodeParams, schema.None, schema.None]{
		ID: "deleteLink", Route: "DELETE /links/{code}", Function: "linksapi", Caller: schema.CallerUser,
		Summary: "Delete one of one's own links", Status: http.StatusNoContent, Errors: []error{ErrNotFound}}
	FollowLink = schema.Operation[CodeParams, schema.None, schema.None]{
		ID: "followLink", Route: "GET /{code}", Function: "linksapi", Caller: schema.CallerAnyone,
		Summary: "Follow a link", Status: http.StatusFound, Errors: []error{ErrNotFound}}
)
