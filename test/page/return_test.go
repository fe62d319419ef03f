package page

import (
	"fmt"
	"image"
	"image/draw"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// answersOf waits until the agent has the number of answers.
func (q question) answersOf(t *testing.T, n int) (got answered) {
	t.Helper()
	wait.For(t, "the answers that the agent reads", n, func() int {
		got = q.read(t)
		return len(got.Responses)
	}, wait.On(suite.Target(t)))
	return got
}

// An answer can be taken back for a moment, from any view. To leave the page sends it at once.
func TestUndoOfSending(t *testing.T) {
	q := ask(t, unique("Are you sure of that?"), 3)
	tab := open(t, "/q/"+q.id, browser.Options{})
	write(tab, "I am.")
	tab.Click("Send answer")
	tab.Click("Undo")
	tab.Until("document.getElementById('answer')?.value === 'I am.'")
	q.answersOf(t, 0)
	write(tab, " I think.")
	tab.Click("Send answer")
	tab.Click("Leaderboard")
	leave(tab)
	if got := q.answersOf(t, 1); !strings.Contains(got.Responses[0].Answer, "I think.") {
		t.Errorf("the agent reads %+v", got)
	}
	thanked(tab)

	second := open(t, "/q/"+q.id, browser.Options{})
	write(second, "I leave.")
	second.Click("Send answer")
	second.Until("document.querySelector('.undoing')")
	second.Go("about:blank")
	q.answersOf(t, 2)

	// Without a hand on it, it goes by itself.
	third := open(t, "/q/"+q.id, browser.Options{})
	write(third, "I wait.")
	third.Click("Send answer")
	thanked(third)
	q.answersOf(t, 3)
}

// Who may send few more answers reads how many until when, and what becomes of one that is too many.
func TestLimit(t *testing.T) {
	q := ask(t, unique("Is it too much?"), 2)
	const limited = `globalThis.fetch = ((send) => async (address, options) => {
		// There is no next question.
		if (String(address).includes('/human/questions?')) return new Response('{"questions":[]}');
		if (options?.method !== 'POST' || !String(address).endsWith('/human/responses')) return send(address, options);
		const answer = new Response('{}', {status: 429, headers: {'Retry-After': '3600', 'X-RateLimit-Remaining': '0',
			'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1000) + 3600)}});
		return Object.defineProperty(answer, 'url', {value: new URL(address, location).href});
	})(fetch);
	if (!localStorage['ask-a-human.limit']) localStorage.setItem('ask-a-human.limit',
		JSON.stringify({left: 2, until: Date.now() + 3600_000}));
	`
	for script, texts := range map[string][]string{
		"": {"Send answer", "You can send 2 more until ",
			"Your answer is kept here, and is sent then.", ". This one is kept here, and is sent then."},
		inGerman: {"Antwort senden", " noch 2 senden.",
			"Deine Antwort bleibt hier und wird dann gesendet.",
			" keine mehr senden. Diese bleibt hier und wird dann gesendet."},
	} {
		tab := open(t, "/q/"+q.id, browser.Options{Before: limited + script})
		tab.See(texts[1])
		write(tab, "It is.")
		tab.Click(texts[0])
		shows(tab, "sending")
		leave(tab)
		shows(tab, "limited")
		tab.See(texts[2])
		tab.Show("/")
		tab.Show("/q/" + q.id)
		shows(tab, "kept")
		tab.See(texts[3])
	}
	q.answersOf(t, 0)
}

// Two tabs of one person share what is written, and one learns that the other has answered.
func TestTwoTabs(t *testing.T) {
	q := ask(t, unique("Do you have two tabs?"), 2)
	first := open(t, "/q/"+q.id, browser.Options{})
	write(first, "I have")
	run, chromium := suite.Start(t)
	second := chromium.Open(t, run.URL("")+"/q/"+q.id, browser.Options{Beside: first})
	second.Until("document.getElementById('answer')?.value === 'I have'")
	write(second, " two")
	first.Until("document.getElementById('answer')?.value === 'I have two'")
	send(second)
	thanked(second)
	shows(first, "answered")
	first.See("Next question")
}

// Who comes back to the questions finds them where they were left.
func TestKeepsItsPlace(t *testing.T) {
	for n := range 25 {
		askFor(t, "product", fmt.Sprint("Which of these would you buy? ", n), 2)
	}
	tab := open(t, "/?audience=product", browser.Options{Width: 360, Height: 640})
	tab.Click("Show more questions")
	tab.Until("document.querySelectorAll('.card').length >= 25")
	browser.Evaluate[bool](tab, "scrollTo(0, 1500), true")
	tab.Until("history.state?.y === 1500")
	browser.Evaluate[bool](tab, "document.querySelectorAll('.card a')[10].click(), true")
	tab.Until("document.querySelector('.question')")
	tab.Until("scrollY === 0")
	browser.Evaluate[bool](tab, "history.back(), true")
	tab.Until("document.querySelectorAll('.card').length >= 25 && scrollY === 1500")
}

// An address of nothing is a page of a browser, and an error of everyone else.
func TestUnknownAddress(t *testing.T) {
	tab := open(t, "/", browser.Options{})
	tab.Excuse("404")
	run, _ := suite.Start(t)
	tab.Go(run.URL("") + "/no/such/page")
	shows(tab, "unknown")
	tab.Click("All questions")
	tab.Until("document.querySelector('.feed')")
}

// Someone new reads what this is, and tries an example that is sent to no one.
func TestFirstVisit(t *testing.T) {
	tab := open(t, "/", browser.Options{Answers: true})
	tab.See("New here?")
	tab.Click("Try an example")
	tab.Until("(document.querySelector('input[name=option]')?.click(), " +
		"document.querySelector('input[name=option]:checked'))")
	tab.Click("Send answer")
	shows(tab, "tried")
	tab.Click("All questions")
	tab.Until("document.querySelector('.feed') && !document.querySelector('.welcome')")
	for _, answer := range tab.Answers() {
		if strings.Contains(answer.URL, "/human/responses") {
			t.Errorf("the example was sent: %+v", answer)
		}
	}
}

// An id of one device makes another device the same person, also by the code that it shows.
func TestOneIDOnTwoDevices(t *testing.T) {
	q := ask(t, unique("Who are you there?"), 2)
	first := open(t, "/q/"+q.id, browser.Options{})
	write(first, "Me.")
	send(first)
	thanked(first)
	id := browser.Evaluate[string](first, "JSON.parse(localStorage['ask-a-human.person'])")
	second := open(t, "/settings", browser.Options{})
	second.Click("I have an id")
	second.Until("(document.getElementById('another').focus(), true)")
	second.Press("mine\r")
	second.See("An id has 36 characters")
	second.Until("(document.getElementById('another').select(), true)")
	second.Press(strings.ToUpper(id) + "\r")
	second.Until("document.getElementById('person')?.innerText === '" + id + "'")
	second.Click("My points")
	second.See("First Steps")

	first.Click("Settings")
	first.Click("Show my id as a code")
	run, _ := suite.Start(t)
	code := read(t, browser.Evaluate[string](first, "document.querySelector('.code path').getAttribute('d')"),
		browser.Evaluate[int](first, "document.querySelector('.code').viewBox.baseVal.width"))
	if want := run.URL("") + "/settings#id=" + id; code != want {
		t.Fatalf("the code says %s, want %s", code, want)
	}
	third := open(t, strings.TrimPrefix(code, run.URL("")), browser.Options{})
	third.Until("document.getElementById('another')?.value === '" + id + "' && location.hash === ''")
	third.Click("Use this id")
	third.Until("document.getElementById('person')?.innerText === '" + id + "'")
}

var square = regexp.MustCompile(`M(\d+) (\d+)h1v1h-1z`)

// read reads a QR code from the path of its dark modules, within so many of them.
func read(t *testing.T, path string, size int) string {
	t.Helper()
	const scale = 4
	drawn := image.NewGray(image.Rect(0, 0, size*scale, size*scale))
	draw.Draw(drawn, drawn.Bounds(), image.White, image.Point{}, draw.Src)
	for _, one := range square.FindAllStringSubmatch(path, -1) {
		x, _ := strconv.Atoi(one[1])
		y, _ := strconv.Atoi(one[2])
		draw.Draw(drawn, image.Rect(x*scale, y*scale, (x+1)*scale, (y+1)*scale), image.Black, image.Point{}, draw.Src)
	}
	bitmap := must.Get(gozxing.NewBinaryBitmapFromImage(drawn))(t)
	result := must.Get(qrcode.NewQRCodeReader().Decode(bitmap, nil))(t)
	return result.GetText()
}

// Who has answered chooses the name that leaderboards show.
func TestChoosesAName(t *testing.T) {
	q := ask(t, unique("What are you called?"), 2)
	tab := open(t, "/settings", browser.Options{})
	tab.Excuse("409")
	rename := func(name string) {
		tab.Until("document.getElementById('handle')?.value && !document.getElementById('handle').disabled && " +
			"(document.getElementById('handle').select(), true)")
		tab.Press(name)
		tab.Click("Keep this name")
	}
	rename("Early Bird")
	tab.See("answer a question, then choose a name")
	run, _ := suite.Start(t)
	tab.Go(run.URL("") + "/q/" + q.id)
	write(tab, "By many names.")
	send(tab)
	thanked(tab)
	tab.Click("Settings")
	tab.Excuse("400")
	rename("Moderator")
	tab.See("This name sounds like someone else")
	rename("n1gger")
	tab.See("a word that insults people")
	rename("5550199123")
	tab.See("more than 6 digits")
	rename("<b>")
	tab.See("A name has 3 to 20 letters")
	rename("Zoë  of the Hill")
	tab.See("Your name is kept")
	tab.Click("Leaderboard")
	tab.See("Zoë of the Hill")
}

// People have a copy of what is kept about them, and delete it. The agent keeps the answer.
func TestMyData(t *testing.T) {
	q := ask(t, unique("What do you leave behind?"), 2)
	tab := open(t, "/q/"+q.id, browser.Options{Before: `{
		const make = URL.createObjectURL;
		URL.createObjectURL = (kept) => (kept.text().then((text) => { globalThis.copy = text; }), make.call(URL, kept));
	}`})
	write(tab, "A footprint.")
	send(tab)
	thanked(tab)
	tab.Click("Settings")
	before := tab.Text("#person")
	tab.Click("Save a copy")
	tab.Until("JSON.parse(globalThis.copy ?? '[]')[0]?.answers[0].answer === 'A footprint.'")
	tab.Click("Delete my data")
	tab.Until("document.querySelector('dialog[open]')")
	tab.Click("Delete")
	tab.Until("document.getElementById('person') && document.getElementById('person').innerText !== '" + before + "'")
	if got := q.read(t); len(got.Responses) != 1 || got.Responses[0].Answer != "A footprint." {
		t.Errorf("the agent reads %+v", got)
	}
	second := open(t, "/", browser.Options{Before: `localStorage.setItem('ask-a-human.person', '"` + before + `"')`})
	second.Click("My points")
	second.See("Badges: 0 of")
}
