package catalog_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	shop, todo := catalog.Lake{Database: "shop", Stack: "one"}, catalog.Lake{Database: "todo", Stack: "one"}
	elsewhere := catalog.Lake{Database: "shop", Stack: "two"}
	for name, test := range map[string]struct {
		asked catalog.Lake
		has   []catalog.Lake
		want  *catalog.DatabaseError
	}{
		"OnlyOne": {catalog.Lake{}, []catalog.Lake{shop}, nil},
		"Named":   {catalog.Lake{Database: "shop"}, []catalog.Lake{todo, shop}, nil},
		"Stack":   {catalog.Lake{Stack: "two"}, []catalog.Lake{shop, elsewhere}, nil},
		"Both":    {catalog.Lake{Database: "shop", Stack: "one"}, []catalog.Lake{todo, shop, elsewhere}, nil},
		"Ambiguous": {catalog.Lake{}, []catalog.Lake{todo, shop},
			&catalog.DatabaseError{Known: []string{"todo of stack one", "shop of stack one"}}},
		"TwoOfName": {catalog.Lake{Database: "shop"}, []catalog.Lake{shop, elsewhere},
			&catalog.DatabaseError{Got: "shop", Known: []string{"shop of stack one", "shop of stack two"}}},
		"Unknown": {catalog.Lake{Database: "shops"}, []catalog.Lake{shop},
			&catalog.DatabaseError{Got: "shops", Known: []string{"shop of stack one"}}},
		"NoStack": {catalog.Lake{Database: "shop", Stack: "three"}, []catalog.Lake{shop},
			&catalog.DatabaseError{Got: "shop", Known: []string{"shop of stack one"}}},
		"None": {catalog.Lake{}, nil, &catalog.DatabaseError{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := catalog.Choose(test.has, test.asked.Database, test.asked.Stack)
			var refused *catalog.DatabaseError
			if test.want == nil {
				if err != nil || got.Database != "shop" || test.asked.Stack != "" && got.Stack != test.asked.Stack {
					t.Errorf("got %+v, %v", got, err)
				}
			} else if !errors.As(err, &refused) || refused.Got != test.want.Got ||
				!slices.Equal(refused.Known, test.want.Known) || refused.Error() == "" {
				t.Errorf("got %v", err)
			}
		})
	}
}
