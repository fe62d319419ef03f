package schema

// PageView is a view of a web page.
type PageView struct {
	// Path is its address, such as "/q/{question_id}".
	Path string
	// Summary says what people do there.
	Summary string
}

// AddPage adds a web page at "/" of the API: the function that serves its files, to anyone, and the routes of its views
// and files, which are outside of the API's document. Addresses that are no route's lead to the function, too.
func (p *Platform) AddPage(serves Function, views ...PageView) {
	p.Functions = append(p.Functions, serves)
	for _, view := range append(views,
		PageView{"/assets/{path+}", "Load a part of the page"},
		PageView{"/manifest.webmanifest", "Install the page"},
		PageView{"/service-worker.js", "Keep the page for when there is no network"},
		PageView{"/{path+}", "See that there is no such page"},
	) {
		p.Routes = append(p.Routes, Route{Method: "GET", Path: view.Path, Function: serves.Name, Caller: CallerAnyone,
			OutsideAPI: true, Summary: view.Summary})
	}
}
