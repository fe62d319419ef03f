package dynamodb_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

func second[T any](_ T, err error) error { return err }

// is compares what a request read with what was stored.
func is[T any](want T) func(got T, err error) error {
	return func(got T, err error) error {
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err == nil && diff != "" {
			return fmt.Errorf("(-stored +read):\n%s", diff)
		}
		return err
	}
}

// measured is Lingible with the users ann, who is a premium user, and bob.
type measured struct {
	*moderated
	keys   *idempotency.Keys
	number int
}

func (m *measured) claim() *idempotency.Claim {
	m.t.Helper()
	m.number++
	claim, _, err := m.keys.Begin(m.t.Context(), "ann", fmt.Sprint("key ", m.number), []byte("request"), time.Minute)
	if err != nil {
		m.t.Fatal(err)
	}
	return claim
}

// claimed is the context of a request with an idempotency key.
func (m *measured) claimed() context.Context {
	return idempotency.WithClaim(m.t.Context(), m.claim(), func(any) (idempotency.Response, error) {
		return idempotency.Response{Status: 200, Body: []byte(`{}`)}, nil
	})
}

func (m *measured) usage(user string) lingible.Usage {
	m.t.Helper()
	usage, found, err := m.World.Store.Usage(m.t.Context(), user)
	if err != nil || !found {
		m.t.Fatalf("got %v, %v", found, err)
	}
	return usage
}

// must fails the test of a preparation that failed.
func (m *measured) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// TestEveryAccessPattern makes each pattern's request as the functions do, compares it with its
// declaration, and prints what it consumed. What is read by an index has to be whole: no reader takes
// for absent what the index does not project.
func TestEveryAccessPattern(t *testing.T) {
	t.Parallel()
	m := &measured{moderated: newModerated(t, 10)}
	m.keys = m.World.Store.Keys()
	m.keys.Now = m.Read
	m.Premium(t, "ann")
	m.voters(1)
	cases := dynamotest.Cases{
		schema.CountRequest: func() func() error {
			limit := schema.Lingible().RateLimits[0]
			return func() error {
				return second(m.World.Store.Limiter().CountRequest(t.Context(), limit, "ann", m.Read()))
			}
		},
		schema.ClaimIdempotencyKey: func() func() error {
			return func() error { m.claim(); return nil }
		},
		schema.SettleIdempotencyKey: func() func() error {
			claim := m.claim()
			return func() error { return m.keys.Settle(t.Context(), claim, idempotency.Response{Status: 409}) }
		},
	}
	for _, room := range []dynamotest.Cases{m.userCases(), m.translationCases(), m.submissionCases(), m.lexiconCases(), m.trendCases(), m.quizCases()} {
		maps.Copy(cases, room)
	}
	m.Tables.Measure(t, schema.Lingible().Database.AccessPatterns, cases, func(pattern string, made []dynamotest.Request) []dynamotest.Request {
		// An export is claimed, and then settled.
		switch pattern {
		case "ClaimExport":
			return made[:1]
		case "SettleExport":
			return made[1:]
		}
		return made
	})
	m.compareIndexes()
}

// compareIndexes reads all indexes that the cases have filled, and compares what they return with
// what the schema says that they project.
func (m *measured) compareIndexes() {
	values := map[string][]any{
		"SubmissionsStatusIndex": {"validated"}, "SubmissionsByUserIndex": {"author 1"}, "ValidationStatusIndex": {"pending"},
		"LexiconSourceIndex": {"onesynth"}, "LexiconQuizDifficultyIndex": {"beginner"}, "LexiconQuizCategoryIndex": {"talk", 0, 1},
		"TrendingActiveIndex": {"true"}, "TrendingCategoryIndex": {"slang"}, "UsersTierIndex": {"premium"},
	}
	for _, p := range schema.Lingible().Database.AccessPatterns {
		table, _ := schema.Lingible().Database.Table(p.Table)
		index, ok := table.Index(p.Index)
		if !ok || index.Projection == schema.ProjectAll {
			continue
		}
		items := 0
		for item, err := range m.Tables.Items(m.t.Context(), p.Name, dynamo.Query{Values: values[p.Index]}) {
			m.must(err)
			items++
			for attribute := range item {
				if !table.Projects(index, attribute) {
					m.t.Errorf("%s returns %s, which the schema does not project", p.Index, attribute)
				}
			}
		}
		if items == 0 {
			m.t.Errorf("%s has no item", p.Index)
		}
	}
}

func (m *measured) userCases() dynamotest.Cases {
	ctx, store := m.t.Context(), m.World.Store
	made := func(id string) lingible.User {
		m.t.Helper()
		user, err := m.World.Users.Profile(ctx, m.Caller(id))
		m.must(err)
		return user
	}
	deleted := func(id string) func() func() error {
		return func() func() error {
			made(id)
			submission := m.open("term of " + id)
			m.must(second(m.Vote(ctx, m.Caller(id), submission.ID)))
			m.must(store.StoreTranslation(ctx, lingible.Charge{Usage: m.usage(id), Limit: 10, NextMidnight: m.Read()}, m.translation(id), m.Read().Add(time.Hour)))
			m.Premium(m.t, id)
			m.must(second(m.Submit(ctx, m.Caller(id), proposal("own term of "+id))))
			m.must(m.World.Users.Delete(ctx, m.Caller(id)))
			return func() error { return is(true)(store.CleanAccount(ctx, id)) }
		}
	}
	return dynamotest.Cases{
		"GetUser": func() func() error {
			user := made("read")
			return func() error {
				got, _, err := store.User(ctx, "read")
				return is(user)(got, err)
			}
		},
		"GetUsage": func() func() error { return func() error { m.usage("ann"); return nil } },
		"CreateUser": func() func() error {
			user := lingible.User{ID: "new", Tier: lingible.Free, Status: lingible.Active, CreatedAt: m.Read(), UpdatedAt: m.Read()}
			return func() error { return store.CreateUser(ctx, user, m.Read()) }
		},
		"UpgradeUser": func() func() error {
			user := made("upgraded")
			return func() error { return store.Upgrade(ctx, user, lingible.Premium, m.Read()) }
		},
		"BeginAccountDeletion": func() func() error {
			made("leaving")
			return func() error { return store.BeginDeletion(ctx, "leaving", m.Read()) }
		},
		"ListUserItems":       deleted("listed"),
		"WithdrawVote":        deleted("withdrawn"),
		"DeleteSubmission":    deleted("gone"),
		"ListTranslationKeys": deleted("translated"),
		"DeleteUserItem": func() func() error {
			return func() error {
				return m.Tables.Delete(ctx, "DeleteUserItem", []any{"USER#bob", "VOTE#none"}, expression.ConditionBuilder{})
			}
		},
		"ListUsersByTier": func() func() error {
			return func() error {
				for item, err := range m.Tables.Items(ctx, "ListUsersByTier", dynamo.Query{Values: []any{"premium"}}) {
					if err != nil || item["PK"] == nil || item["SK"] == nil {
						return fmt.Errorf("got %v, %w", item, err)
					}
				}
				return nil
			}
		},
	}
}

// translation is a translation of a user.
func (m *measured) translation(id string) lingible.ChargedTranslation {
	return lingible.ChargedTranslation{Translation: lingible.Translation{
		ID: "translation of " + id, OriginalText: "no cap", TranslatedText: "honestly", Direction: lingible.ToStandard, Confidence: 0.75,
		ModelUsed: "speaker", CreatedAt: m.Read(),
	}}
}

func (m *measured) translationCases() dynamotest.Cases {
	ctx, store := m.t.Context(), m.World.Store
	kept := func(ctx context.Context, id string) error {
		charge := lingible.Charge{Usage: m.usage("ann"), Limit: 100, NextMidnight: m.Read().Add(24 * time.Hour)}
		return store.StoreTranslation(ctx, charge, m.translation(id), m.Read().Add(time.Hour))
	}
	return dynamotest.Cases{
		"ChargeTranslation": func() func() error {
			charge := lingible.Charge{Usage: m.usage("ann"), Limit: 100, NextMidnight: m.Read()}
			return func() error { return store.StoreTranslation(ctx, charge, m.translation("charged"), time.Time{}) }
		},
		"StoreTranslation": func() func() error {
			ctx := m.claimed()
			return func() error { return kept(ctx, "measured") }
		},
		"ListTranslations": func() func() error {
			m.must(kept(ctx, "listed"))
			return func() error {
				list, err := store.Translations(ctx, "ann", m.Read(), 100, "")
				return is([]lingible.Translation{m.translation("measured").Translation, m.translation("listed").Translation})(list.Translations, err)
			}
		},
		"GetTranslation": func() func() error {
			return func() error {
				var got lingible.Translation
				_, err := m.Tables.Get(ctx, "GetTranslation", &got, "USER#ann", "TRANSLATION#translation of listed")
				return is(m.translation("listed").Translation)(got, err)
			}
		},
		"DeleteTranslation": func() func() error {
			return func() error { return store.DeleteTranslation(ctx, "ann", "translation of listed") }
		},
	}
}

func (m *measured) submissionCases() dynamotest.Cases {
	ctx, store := m.t.Context(), m.World.Store
	read := func(get func(lingible.Submission) (lingible.Submission, bool, error)) func() func() error {
		return func() func() error {
			submission := m.open(fmt.Sprint("read ", m.people))
			return func() error {
				got, _, err := get(submission)
				return is(submission)(got, err)
			}
		}
	}
	listed := func(list func(user string) (lingible.SubmissionList, error)) func() func() error {
		return func() func() error {
			submission := m.open(fmt.Sprint("listed ", m.people))
			return func() error {
				got, err := list(submission.UserID)
				for _, other := range got.Submissions {
					if other.ID == submission.ID {
						return is(submission)(other, err)
					}
				}
				return fmt.Errorf("got %+v, %w", got, err)
			}
		}
	}
	return dynamotest.Cases{
		"Submit": func() func() error {
			ctx := m.claimed()
			return func() error { return second(m.Submit(ctx, m.Caller("ann"), proposal("measured"))) }
		},
		"GetSubmissionByID": read(func(s lingible.Submission) (lingible.Submission, bool, error) { return store.FindSubmission(ctx, s.ID) }),
		"GetSubmissions":    listed(func(user string) (lingible.SubmissionList, error) { return m.Mine(ctx, user, 100, "") }),
		"ListUserSubmissions": listed(func(user string) (lingible.SubmissionList, error) {
			return m.Mine(ctx, user, 100, "")
		}),
		"ListSubmissionsByStatus": listed(func(string) (lingible.SubmissionList, error) { return m.Pending(ctx, 100, "") }),
		"ListByValidationStatus": func() func() error {
			m.submitted("unvalidated")
			m.Advance(time.Minute)
			return func() error {
				for submission, err := range store.UnvalidatedSubmissions(ctx) {
					if err != nil || submission.ID == "" || submission.Term == "" {
						return fmt.Errorf("got %+v, %w", submission, err)
					}
				}
				return nil
			}
		},
		"ReviewSubmission": func() func() error {
			submission := m.open("reviewed")
			return func() error { return second(m.Approve(ctx, "admin", submission.ID)) }
		},
		"JudgeSubmission": func() func() error {
			submission := m.submitted("judged")
			return func() error { return store.Judge(ctx, submission, submission) }
		},
		"Vote": func() func() error {
			submission := m.open("voted")
			return func() error { return store.Vote(ctx, "voter 0", submission, 9) }
		},
	}
}

// talk is a term that the quiz asks about.
func talk(term string) lingible.Entry {
	return lingible.Entry{
		Term: term, Gloss: "To talk", Examples: []string{"They " + term + "."}, Sources: []string{"onesynth"}, IsQuizEligible: true,
		QuizCategory: lingible.Talk, Confidence: 1, Momentum: 0.9,
	}
}

func digestOf(digest string, _ bool, err error) (string, error) { return digest, err }

func (m *measured) lexiconCases() dynamotest.Cases {
	ctx, store := m.t.Context(), m.World.Store
	terms := func(read func() ([]string, error)) func() func() error {
		return func() func() error {
			m.must(second(store.AddEntry(ctx, talk("yap"))))
			return func() error { return is([]string{"yap"})(read()) }
		}
	}
	// listed are the slugs that a pattern lists which no function uses.
	listed := func(pattern string, values ...any) (slugs []string, _ error) {
		for item, err := range m.World.Tables.Items(ctx, pattern, dynamo.Query{Values: values}) {
			if err != nil {
				return nil, err
			}
			slugs = append(slugs, strings.TrimPrefix(item["PK"].(*types.AttributeValueMemberS).Value, "TERM#"))
		}
		return slugs, nil
	}
	export := func(n int) func() error {
		return func() error {
			claim := fmt.Sprint("claim ", n)
			m.must(store.ClaimExport(ctx, claim, m.Read(), m.Read().Add(time.Minute)))
			return store.SettleExport(ctx, claim, "digest", m.Read())
		}
	}
	return dynamotest.Cases{
		"GetEntry": func() func() error {
			m.must(second(store.AddEntry(ctx, talk("yap"))))
			return func() error {
				got, _, err := store.Entry(ctx, "yap")
				return is(talk("yap"))(got, err)
			}
		},
		"GetEntries": func() func() error {
			return func() error { return is([]lingible.Entry{talk("yap")})(store.Entries(ctx, []string{"yap", "none"})) }
		},
		"ListEntriesBySource":  terms(func() ([]string, error) { return store.SlugsBySource(ctx, "onesynth") }),
		"ListQuizByDifficulty": terms(func() ([]string, error) { return listed("ListQuizByDifficulty", string(lingible.Beginner)) }),
		"ListQuizByCategory":   terms(func() ([]string, error) { return listed("ListQuizByCategory", string(lingible.Talk), 0, 1) }),
		"GetWrongAnswers": func() func() error {
			m.must(second(store.AddWrongAnswers(ctx, lingible.Talk, []string{"To run"})))
			return func() error { return is([]string{"To run"})(store.WrongAnswers(ctx, lingible.Talk)) }
		},
		"AddEntry": func() func() error {
			return func() error { return second(store.AddWrongAnswers(ctx, lingible.Food, []string{"To run"})) }
		},
		"GetExport":    func() func() error { return func() error { return is("")(digestOf(store.ExportDigest(ctx))) } },
		"ClaimExport":  func() func() error { return export(1) },
		"SettleExport": func() func() error { return export(2) },
	}
}

func (m *measured) trendCases() dynamotest.Cases {
	ctx, store := m.t.Context(), m.World.Store
	proposed := lingible.ProposedTrend{Term: "yap", Definition: "To talk", Category: lingible.Slang, Example: "They yap."}
	want := lingible.Trend{Term: "yap", Definition: "To talk", Category: lingible.Slang, IsActive: true}
	listed := func(query lingible.TrendQuery) func() func() error {
		return func() func() error {
			m.must(store.CountTerm(ctx, proposed, false, m.Read()))
			return func() error { return is([]lingible.Trend{want})(store.Trends(ctx, query)) }
		}
	}
	return dynamotest.Cases{
		"CountTerm":              func() func() error { return func() error { return store.CountTerm(ctx, proposed, true, m.Read()) } },
		"ListTrending":           listed(lingible.TrendQuery{ActiveOnly: true, Most: 10}),
		"ListTrendingByCategory": listed(lingible.TrendQuery{Category: lingible.Slang, ActiveOnly: true, Most: 10}),
		"GetTrends":              func() func() error { return func() error { return second(store.CountedTrends(ctx, []string{"yap"})) } },
		"ScoreTrend": func() func() error {
			trends, err := store.CountedTrends(ctx, []string{"yap"})
			m.must(err)
			return func() error {
				return store.ScoreTrend(ctx, trends[0].Scored(m.Read(), nil), nil, trends[0].LastUpdated)
			}
		},
	}
}

func (m *measured) quizCases() dynamotest.Cases {
	ctx, store := m.t.Context(), m.World.Store
	quiz := lingible.QuizSession{
		QuizProgress: lingible.QuizProgress{ID: "quiz", Status: lingible.QuizActive, StartedAt: m.Read(), LastActivityAt: m.Read()},
		Asked:        []string{"yap"}, Question: lingible.AskedQuestion{Day: "2026-02-02"}, Version: 1,
	}
	return dynamotest.Cases{
		"GetQuizSession": func() func() error {
			m.must(second(store.AskQuestion(ctx, m.usage("ann"), quiz, 0)))
			return func() error {
				got, _, err := store.QuizSession(ctx, "ann", "quiz")
				return is(quiz)(got, err)
			}
		},
		"GetLatestQuizSession": func() func() error {
			return func() error {
				got, _, err := store.LatestQuiz(ctx, "ann")
				return is(quiz)(got, err)
			}
		},
		"AskQuestion": func() func() error {
			quiz.Version++
			usage := m.usage("ann")
			return func() error { return is(true)(store.AskQuestion(ctx, usage, quiz, 0)) }
		},
		"AnswerQuestion": func() func() error {
			quiz.Version++
			quiz.Question.Answer = &lingible.QuizAnswer{IsCorrect: true, Points: 10}
			return func() error { return store.AnswerQuestion(ctx, "ann", quiz) }
		},
		"EndQuiz": func() func() error {
			quiz.Version++
			return func() error { return store.EndQuiz(ctx, "ann", quiz) }
		},
		"ListQuizDays": func() func() error {
			return func() error {
				days, err := store.QuizDays(ctx, "ann", 10)
				if err == nil && (len(days) != 1 || days[0].Questions != 2 || days[0].Correct != 1) {
					err = fmt.Errorf("got %+v", days)
				}
				return err
			}
		},
	}
}
