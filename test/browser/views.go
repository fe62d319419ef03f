package browser

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

// SignIn signs a person in where the page asks for it, and waits until the page shows an element of the selector.
func (tab *Tab) SignIn(name, shown string) {
	tab.t.Helper()
	tab.Until("document.querySelector('[data-state=signIn]')")
	tab.Click("Sign in")
	tab.Until("document.activeElement?.id === 'username'")
	tab.Press(name + "\r")
	tab.Until("document.querySelector(" + quote(shown) + ")")
}

// German chooses German in a view that has the choice of the kit.
func (tab *Tab) German(view string) {
	tab.t.Helper()
	tab.Show(view)
	tab.Until("(() => { const list = document.getElementById('language'); list.value = 'de'; " +
		"list.dispatchEvent(new Event('change', {bubbles: true})); return document.documentElement.lang === 'de'; })()")
}

// Write writes into the field with the id, in place of what is there.
func (tab *Tab) Write(id, text string) {
	tab.t.Helper()
	field := "document.getElementById(" + quote(id) + ")"
	tab.Until(fmt.Sprintf("%[1]s && (%[1]s.focus(), %[1]s.select(), true)", field))
	tab.Press(text)
}

// Texts returns the texts of the elements of a selector, with a bar between them.
func (tab *Tab) Texts(selector string) string {
	tab.t.Helper()
	return strings.Join(Evaluate[[]string](tab, "[...document.querySelectorAll("+quote(selector)+
		")].map((one) => one.textContent)"), "|")
}

// Saves is a script for [Options.Before]: what the page saves as a file is the text saved.
const Saves = "URL.createObjectURL = (blob) => { blob.text().then((text) => { globalThis.saved = text; }); " +
	"return 'data:,'; }"

// Long are texts of up to most characters that strain a page, besides those that [Hostile] returns.
func Long(most int) (all []string) {
	for _, text := range append(Hostile(), strings.Repeat("w", most), "Z"+strings.Repeat("\u0336\u0323\u0301\u035c",
		most/4)+" \u00e9", strings.Repeat("هل هذه ", most/7)) {
		all = append(all, string([]rune(text)[:min(len([]rune(text)), most)]))
	}
	return all
}

// CheckViews checks views of a page on a phone, a dark tablet and a wide screen: what strangers wrote is text, all
// fits, also in German on a phone, and axe-core finds nothing. open opens the page, and german is the view with the
// choice of a language.
func CheckViews(t testing.TB, open func(Options) *Tab, german string, views ...string) {
	t.Helper()
	for _, options := range []Options{{Width: 320, Height: 640}, {Width: 768, Height: 900, Dark: true},
		{Width: 1440, Height: 900}} {
		tab := open(options)
		for _, view := range views {
			tab.Show(view)
			tab.CheckStrangers()
			tab.CheckFits()
			tab.CheckRules()
		}
	}
	if german == "" {
		return
	}
	tab := open(Options{Width: 360, Height: 640})
	tab.German(german)
	for _, view := range views {
		tab.Show(view)
		tab.CheckFits()
	}
}

var pictures = flag.String("pictures", "", "write the pictures of a test TestPictures into the `folder`")

// Pictures returns the folder of the flag -pictures. It skips the test where there is none.
func Pictures(t testing.TB) string {
	t.Helper()
	if *pictures == "" {
		t.Skip("pictures are written with -pictures FOLDER")
	}
	return *pictures
}
