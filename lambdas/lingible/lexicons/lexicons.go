// Package lexicons has the terms that Lingible begins with, written for it, and the pools of wrong
// answers of its quiz. Each category of the quiz has a file with its name. Further terms here are
// loaded by the next `onesynth seed lingible`; a changed one does not change a term that is there.
package lexicons

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// MinWrongAnswers is how many entries a pool of wrong answers has at least.
const MinWrongAnswers = 12

//go:embed *.json
var files embed.FS

// Initial returns the entries, by category. They are valid ([lingible.Entry.Check]), and no two
// have a form in common.
func Initial() ([]lingible.Entry, error) {
	entries, _, err := read(files)
	return entries, err
}

// WrongAnswers returns glosses that are right for no term of a category, by category.
func WrongAnswers() (map[lingible.Category][]string, error) {
	_, wrong, err := read(files)
	return wrong, err
}

// file is the file of a category. Its entries leave out quiz_category and sources, which are those
// of the file and [lingible.SourceInitial].
type file struct {
	WrongAnswers []string         `json:"wrong_answers"`
	Entries      []lingible.Entry `json:"entries"`
}

// read reads the files of all categories of a folder.
func read(folder fs.FS) ([]lingible.Entry, map[lingible.Category][]string, error) {
	var lexicon lingible.Lexicon
	wrong := map[lingible.Category][]string{}
	for _, category := range lingible.Categories() {
		name := string(category) + ".json"
		data, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, nil, err
		}
		content, err := decode(data)
		for _, entry := range content.Entries {
			if err != nil {
				break
			}
			if entry.QuizCategory != "" || entry.Sources != nil {
				err = fmt.Errorf("%s: has quiz_category or sources: leave them out", validate.Quoted(entry.Term))
				break
			}
			entry.QuizCategory, entry.Sources = category, []string{lingible.SourceInitial}
			err = lexicon.Add(entry)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		wrong[category] = content.WrongAnswers
	}
	return lexicon.Entries(), wrong, nil
}

// decode reads one file.
func decode(data []byte) (file, error) {
	var content file
	if err := seed.Decode(data, &content); err != nil {
		return content, err
	}
	if n := len(content.WrongAnswers); n < MinWrongAnswers {
		return content, fmt.Errorf("wrong_answers: got %d, want %d or more", n, MinWrongAnswers)
	}
	return content, nil
}
