package api

import (
	"context"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/model"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// TranslationPath is the path of a translation.
type TranslationPath struct {
	ID string `path:"id" doc:"The translation's id." example:"019d0000-0000-7000-8000-000000000000"`
}

func (s *server) registerTranslations() {
	httpapi.Mutate(s.Server, httpapi.Operation{ID: "translate",
		KeyOptional: true,
		Stricter:    httpapi.Forms{"body.text": httpapi.NotBlank},
		Description: "Translates a text, charges the translation, and keeps it for 30 days for a premium user. A " +
			"translation that fails, or is the text itself, is not charged.",
		Errors: []error{&lingible.UsageError{What: "translations a day", Limit: 10,
			Until: time.Date(2026, 2, 3, 6, 0, 0, 0, time.UTC)}, &model.Error{}},
	}, func(ctx context.Context, input *httpapi.Input[lingible.TranslationInput]) (lingible.ChargedTranslation, error) {
		return s.api.Service.Translate(ctx, callerFrom(ctx), input.Body)
	}, nil)

	httpapi.Serve(s.Server, httpapi.Operation{ID: "listTranslations",
		Description: "Returns a page of the caller's translations of the last 30 days. It is for premium users.",
		Errors:      []error{badQuery(), &lingible.SubscriptionError{What: "the history of translations"}},
	}, func(ctx context.Context, page *Page) (lingible.TranslationList, error) {
		return s.api.Service.Translations(ctx, callerFrom(ctx), page.Limit, page.Cursor)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "deleteTranslation", Status: http.StatusNoContent,
		Description: "Deletes a translation of the caller.",
		Stricter:    httpapi.Forms{"path.id": httpapi.Format("uuid")},
		Errors:      []error{lingible.ErrTranslationNotFound},
	}, func(ctx context.Context, input *TranslationPath) (any, error) {
		return nil, s.api.Service.DeleteTranslation(ctx, httpapi.CallerFrom(ctx).ID, input.ID)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "deleteTranslations", Status: http.StatusNoContent,
		NoWorkTime: true,
		Description: "Deletes all translations of the caller. If there are more than there is time for, the answer " +
			"is 503, and a repeat goes on.",
	}, func(ctx context.Context, _ *struct{}) (any, error) {
		return nil, s.api.Service.DeleteTranslations(ctx, httpapi.CallerFrom(ctx).ID)
	})
}
