// Package lexicons has the terms that Lingible begins with, written for it, and the pools of wrong
// answers of its quiz. Each category of the quiz has a file with its name; a file with another name
// has terms of one theme, such as a region, each with its category. Further terms here are loaded by
// the next `onesynth seed lingible`; a changed one does not change a term that is there.
package lexicons

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// MinWrongAnswers is how many entries a pool of wrong answers has at least.
const MinWrongAnswers = 12

//go:embed *.json
var files embed.FS

// Initial returns the entries, those of the categories' files first. They are valid
// ([lingible.Entry.Check]), and no two have a form in common.
func Initial() ([]lingible.Entry, error) {
	entries, _, err := read(files)
	return entries, err
}

// WrongAnswers returns glosses that are right for no term of a category, by category.
func WrongAnswers() (map[lingible.Category][]string, error) {
	_, wrong, err := read(files)
	return wrong, err
}

// file is a file of terms. Its entries leave out sources, which is [lingible.SourceInitial]. In the
// file of a category they leave out quiz_category, too; other files have no wrong answers.
type file struct {
	WrongAnswers []string         `json:"wrong_answers"`
	Entries      []lingible.Entry `json:"entries"`
}

// read reads the files of a folder: those of all categories, then the others by name.
func read(folder fs.FS) (entries []lingible.Entry, wrong map[lingible.Category][]string, _ error) {
	taken := map[string]string{} // the term of each form
	wrong = map[lingible.Category][]string{}
	var names []string
	for _, category := range lingible.Categories() {
		names = append(names, string(category)+".json")
	}
	all, err := fs.Glob(folder, "*.json")
	if err != nil {
		return nil, nil, err
	}
	for _, name := range all {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i, name := range names {
		data, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, nil, err
		}
		var category lingible.Category // none, in the file of a theme
		if i < len(lingible.Categories()) {
			category = lingible.Categories()[i]
		}
		content, err := decode(data, category)
		for _, entry := range content.Entries {
			if err != nil {
				break
			}
			if category != "" && entry.QuizCategory != "" || entry.Sources != nil {
				err = errors.New("has quiz_category or sources: leave them out")
			} else {
				entry.QuizCategory = cmp.Or(category, entry.QuizCategory)
				entry.Sources = []string{lingible.SourceInitial}
				err = cmp.Or(entry.Check(), take(taken, entry))
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", validate.Quoted(entry.Term), err)
			}
			entries = append(entries, entry)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		if category != "" {
			wrong[category] = content.WrongAnswers
		}
	}
	return entries, wrong, nil
}

// take takes the forms of an entry, unless another one has one of them.
func take(taken map[string]string, entry lingible.Entry) error {
	for _, form := range append([]string{entry.Term}, entry.Variants...) {
		if other, isTaken := taken[lingible.Slug(form)]; isTaken {
			return fmt.Errorf("%s of %s is one of %s: leave it out of one of them", validate.Quoted(form),
				validate.Quoted(entry.Term), validate.Quoted(other))
		}
		taken[lingible.Slug(form)] = entry.Term
	}
	return nil
}

// decode reads the file of a category, or of a theme if the category is empty.
func decode(data []byte, category lingible.Category) (file, error) {
	var content file
	if err := seed.Decode(data, &content); err != nil {
		return content, err
	}
	switch n := len(content.WrongAnswers); {
	case category != "" && n < MinWrongAnswers:
		return content, fmt.Errorf("wrong_answers: got %d, want %d or more", n, MinWrongAnswers)
	case category == "" && n > 0:
		return content, errors.New("wrong_answers: put them into the file of their category")
	}
	return content, nil
}
