package askahuman

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Every route answers in its form, no matter how much DynamoDB throttles. A repeated request is
// carried out once. The notifier makes up for failed runs.
func TestThrottling(t *testing.T) {
	t.Parallel()
	on := ownRun(t, local.Options{})
	byAgent := func(a agent, method, path string, body any) func(context.Context) (onesynthtest.Reply, error) {
		return func(ctx context.Context) (onesynthtest.Reply, error) {
			return a.Send(ctx, method, path, a.header(), body)
		}
	}
	byPerson := func(p person, method, path string, body any) func(context.Context) (onesynthtest.Reply, error) {
		return func(ctx context.Context) (onesynthtest.Reply, error) {
			return p.Send(ctx, method, path, p.header(), body)
		}
	}
	byOperator := func(t testing.TB, method, path string, body any) func(context.Context) (onesynthtest.Reply, error) {
		o := newClient(t, on).newOperator(t)
		return func(ctx context.Context) (onesynthtest.Reply, error) {
			return o.Send(ctx, method, path, o.header(), body)
		}
	}
	// reported checks that what has the id was reported once.
	reported := func(t testing.TB, id string) {
		t.Helper()
		for _, item := range on.Items(t, "Reports") {
			if item["report_id"] == id && len(item["reports"].([]any)) == 1 {
				return
			}
		}
		t.Errorf("%s is not reported once", id)
	}
	agentReads := func(path string) func(*testing.T) platform.Request {
		return func(t *testing.T) platform.Request {
			a := newClient(t, on).newAgent()
			asked := a.ask(t, textQuestion(2))
			if path == "/agent/questions/{question_id}" {
				return platform.Request{Send: byAgent(a, http.MethodGet, asked.PollURL, nil), Status: http.StatusOK}
			}
			return platform.Request{Send: byAgent(a, http.MethodGet, path, nil), Status: http.StatusOK}
		}
	}
	personReads := func(path string) func(*testing.T) platform.Request {
		return func(t *testing.T) platform.Request {
			c := newClient(t, on)
			asked, one := c.newAgent().ask(t, textQuestion(2)), c.newPerson()
			if path == "/human/questions/{question_id}" {
				path = "/human/questions/" + asked.QuestionID
			}
			return platform.Request{Send: byPerson(one, http.MethodGet, path, nil), Status: http.StatusOK}
		}
	}
	// answered is someone who has answered, and the hash under which the tables have them.
	answered := func(t *testing.T) (person, string) {
		t.Helper()
		c := newClient(t, on)
		one := c.newPerson()
		one.answer(t, textAnswer(c.newAgent().ask(t, textQuestion(2)).QuestionID))
		return one, onesynthtest.Field(one.try(t, http.MethodGet, "/human/data", nil).Body, "person")
	}
	named := func(method string, body any, want string) func(*testing.T) platform.Request {
		return func(t *testing.T) platform.Request {
			one, _ := answered(t)
			return platform.Request{Send: byPerson(one, method, "/human/handle", body), Status: http.StatusOK,
				Check: func(t testing.TB, _ onesynthtest.Reply) {
					if got := one.stats(t).Handle; want != "" && got != want {
						t.Errorf("the person is called %q; want %q", got, want)
					}
				}}
		}
	}
	// operated is a request of an operator about someone who has answered.
	type prepared = func(*testing.T) platform.Request
	operated := func(method, path string, status int, check func(testing.TB, string)) prepared {
		return func(t *testing.T) platform.Request {
			one, hash := answered(t)
			o := newClient(t, on).newOperator(t)
			header := o.header()
			header.Set("X-Fingerprint", one.fingerprint)
			var body any
			if method == http.MethodPut {
				body = map[string]any{"person": hash, "reset": true}
			}
			return platform.Request{Send: func(ctx context.Context) (onesynthtest.Reply, error) {
				return o.Send(ctx, method, path, header, body)
			}, Status: status, Check: func(t testing.TB, _ onesynthtest.Reply) {
				if check != nil {
					check(t, hash)
				}
			}}
		}
	}
	// forgotten checks that no answer is the person's any more.
	forgotten := func(t testing.TB, hash string) {
		t.Helper()
		for _, item := range on.Items(t, "Responses") {
			if item["fingerprint_hash"] == hash {
				t.Errorf("the answer %v is still the person's", item["response_id"])
			}
		}
	}
	// subscribed checks that the token has one subscription, with that interval; 0: none.
	subscribed := func(t testing.TB, token string, minutes int) {
		t.Helper()
		found := 0
		for _, item := range on.Items(t, "Subscriptions") {
			if item["fcm_token"] != token {
				continue
			}
			found++
			if minutes != int(item["min_interval_minutes"].(float64)) {
				t.Errorf("got %v; want %d minutes", item, minutes)
			}
		}
		if want := min(minutes, 1); found != want {
			t.Errorf("got %d subscriptions with the token; want %d", found, want)
		}
	}
	suite.CheckThrottling(t, on.Target, "/openapi.json", map[string]func(*testing.T) platform.Request{
		"POST /agent/questions": func(t *testing.T) platform.Request {
			a := newClient(t, on).newAgent()
			question := textQuestion(2)
			question.IdempotencyKey = onesynthtest.Unique("key")
			return platform.Request{Send: byAgent(a, http.MethodPost, "/agent/questions", question),
				Status: http.StatusCreated, Check: func(t testing.TB, r onesynthtest.Reply) {
					if page := a.list(t); len(page.Questions) != 1 ||
						page.Questions[0].QuestionID != onesynthtest.Field(r.Body, "question_id") {
						t.Errorf("got %+v; told was %v", page, r)
					}
				}}
		},
		"GET /agent/questions":               agentReads("/agent/questions"),
		"GET /agent/questions/{question_id}": agentReads("/agent/questions/{question_id}"),
		"DELETE /agent/questions/{question_id}": func(t *testing.T) platform.Request {
			a := newClient(t, on).newAgent()
			asked := a.ask(t, textQuestion(2))
			return platform.Request{Send: byAgent(a, http.MethodDelete, asked.PollURL, nil),
				Status: http.StatusNoContent, Check: func(t testing.TB, _ onesynthtest.Reply) {
					if got := a.question(t, asked.QuestionID); got.Status != "CLOSED" {
						t.Errorf("got %+v; want CLOSED", got)
					}
				}}
		},
		"GET /agent/webhook-secrets": agentReads("/agent/webhook-secrets"),
		"POST /agent/webhook-secrets": func(t *testing.T) platform.Request {
			a := newClient(t, on).newAgent()
			return platform.Request{Send: byAgent(a, http.MethodPost, "/agent/webhook-secrets", nil),
				Status: http.StatusOK, Check: func(t testing.TB, r onesynthtest.Reply) {
					if told := onesynthtest.Read[secrets](t, r,
						http.StatusOK).Secrets; !slices.Contains(a.webhookSecrets(t, http.MethodGet), told[0]) {
						t.Error("the secret that was told does not sign")
					}
				}}
		},
		"POST /agent/webhook-tests": func(t *testing.T) platform.Request {
			// The queue is no table. The webhook itself may wait for minutes, for its sender reads one.
			body := map[string]any{"callback_url": on.Run.WebhooksURL() + onesynthtest.Unique("tried")}
			return platform.Request{Send: byAgent(newClient(t, on).newAgent(), http.MethodPost, "/agent/webhook-tests",
				body), Status: http.StatusAccepted}
		},
		"GET /human/questions":               personReads("/human/questions"),
		"GET /human/questions/{question_id}": personReads("/human/questions/{question_id}"),
		"POST /human/responses": func(t *testing.T) platform.Request {
			c := newClient(t, on)
			a, one := c.newAgent(), c.newPerson()
			asked := a.ask(t, textQuestion(2))
			return platform.Request{Send: byPerson(one, http.MethodPost, "/human/responses",
				textAnswer(asked.QuestionID)), Status: http.StatusCreated, Repeated: http.StatusConflict,
				Check: func(t testing.TB, _ onesynthtest.Reply) {
					if got := a.question(t, asked.QuestionID); got.CurrentResponses != 1 || len(got.Responses) != 1 {
						t.Errorf("got %+v; want one answer", got)
					}
					if got := one.stats(t); got.TotalAnswers != 1 || got.TotalPoints != 15 {
						t.Errorf("got %+v; want the 15 points of one answer", got)
					}
				}}
		},
		"POST /human/push/subscribe": func(t *testing.T) platform.Request {
			one, token := newClient(t, on).newPerson(), onesynthtest.Unique("token")
			return platform.Request{Send: byPerson(one, http.MethodPost, "/human/push/subscribe", subscribe{token, 30}),
				Status: http.StatusCreated, Check: func(t testing.TB, _ onesynthtest.Reply) {
					subscribed(t, token, 30)
				}}
		},
		"PUT /human/push/subscribe": func(t *testing.T) platform.Request {
			one, old, token := newClient(t, on).newPerson(), onesynthtest.Unique("token"), onesynthtest.Unique("token")
			one.subscribe(t, subscribe{old, 30})
			body := map[string]any{"fcm_token": token, "old_fcm_token": old}
			return platform.Request{Send: byPerson(one, http.MethodPut, "/human/push/subscribe", body),
				Status: http.StatusOK, Check: func(t testing.TB, _ onesynthtest.Reply) {
					subscribed(t, token, 30)
					subscribed(t, old, 0)
				}}
		},
		"PUT /human/push/subscribe/{subscription_id}": func(t *testing.T) platform.Request {
			one, token := newClient(t, on).newPerson(), onesynthtest.Unique("token")
			made := one.subscribe(t, subscribe{token, 30})
			return platform.Request{Send: byPerson(one, http.MethodPut, "/human/push/subscribe/"+made.SubscriptionID,
				subscribe{Interval: 60}), Status: http.StatusOK, Check: func(t testing.TB, _ onesynthtest.Reply) {
				subscribed(t, token, 60)
			}}
		},
		"DELETE /human/push/subscribe/{subscription_id}": func(t *testing.T) platform.Request {
			one, token := newClient(t, on).newPerson(), onesynthtest.Unique("token")
			made := one.subscribe(t, subscribe{token, 30})
			return platform.Request{Send: byPerson(one, http.MethodDelete, "/human/push/subscribe/"+made.SubscriptionID,
				nil), Status: http.StatusNoContent, Repeated: http.StatusNotFound,
				Check: func(t testing.TB, _ onesynthtest.Reply) {
					subscribed(t, token, 0)
				}}
		},
		"POST /human/reports": func(t *testing.T) platform.Request {
			c := newClient(t, on)
			asked, body := c.newAgent().ask(t, textQuestion(2)), map[string]any{"reason": "spam"}
			body["question_id"] = asked.QuestionID
			return platform.Request{Send: byPerson(c.newPerson(), http.MethodPost, "/human/reports", body),
				Status: http.StatusCreated, Check: func(t testing.TB, _ onesynthtest.Reply) {
					reported(t, asked.QuestionID)
				}}
		},
		"POST /agent/reports": func(t *testing.T) platform.Request {
			c := newClient(t, on)
			a := c.newAgent()
			asked := a.ask(t, textQuestion(2))
			given := c.newPerson().answer(t, textAnswer(asked.QuestionID))
			body := map[string]any{"question_id": asked.QuestionID, "response_id": given.ResponseID, "reason": "spam"}
			return platform.Request{Send: byAgent(a, http.MethodPost, "/agent/reports", body),
				Status: http.StatusCreated, Check: func(t testing.TB, _ onesynthtest.Reply) {
					reported(t, given.ResponseID)
				}}
		},
		"GET /operator/reports": func(t *testing.T) platform.Request {
			return platform.Request{Send: byOperator(t, http.MethodGet, "/operator/reports", nil),
				Status: http.StatusOK}
		},
		"PUT /operator/reports/{report_id}": func(t *testing.T) platform.Request {
			c := newClient(t, on)
			asked := c.newAgent().ask(t, textQuestion(2))
			c.newPerson().report(t, asked.QuestionID)
			return platform.Request{Send: byOperator(t, http.MethodPut, "/operator/reports/"+asked.QuestionID,
				map[string]any{"dismissed": true}), Status: http.StatusNoContent}
		},
		"GET /operator/questions": func(t *testing.T) platform.Request {
			a := newClient(t, on).newAgent()
			asked := a.ask(t, textQuestion(2))
			return platform.Request{Send: byOperator(t, http.MethodGet, "/operator/questions?agent_id="+a.id, nil),
				Status: http.StatusOK, Check: func(t testing.TB, r onesynthtest.Reply) {
					if got := onesynthtest.Read[openOf](t, r, http.StatusOK); len(got.Questions) != 1 ||
						got.Questions[0].QuestionID != asked.QuestionID {
						t.Errorf("got %+v; want the question %s", got, asked.QuestionID)
					}
				}}
		},
		"PUT /operator/questions": func(t *testing.T) platform.Request {
			a := newClient(t, on).newAgent()
			asked := a.ask(t, textQuestion(2))
			return platform.Request{Send: byOperator(t, http.MethodPut, "/operator/questions",
				map[string]any{"agent_id": a.id, "hidden": true}), Status: http.StatusOK,
				Check: func(t testing.TB, _ onesynthtest.Reply) {
					if got := a.question(t, asked.QuestionID); got.Status != "CLOSED" || !got.Hidden {
						t.Errorf("got %+v; want it hidden", got)
					}
				}}
		},
		"PUT /operator/questions/{question_id}": func(t *testing.T) platform.Request {
			a := newClient(t, on).newAgent()
			asked := a.ask(t, textQuestion(2))
			return platform.Request{Send: byOperator(t, http.MethodPut, "/operator/questions/"+asked.QuestionID,
				map[string]any{"hidden": true}), Status: http.StatusNoContent,
				Check: func(t testing.TB, _ onesynthtest.Reply) {
					if got := a.question(t, asked.QuestionID); got.Status != "CLOSED" || !got.Hidden {
						t.Errorf("got %+v; want it hidden", got)
					}
				}}
		},
		"PUT /operator/questions/{question_id}/responses/{response_id}": func(t *testing.T) platform.Request {
			c := newClient(t, on)
			a := c.newAgent()
			asked := a.ask(t, textQuestion(2))
			given := c.newPerson().answer(t, textAnswer(asked.QuestionID))
			return platform.Request{Send: byOperator(t, http.MethodPut,
				"/operator/questions/"+asked.QuestionID+"/responses/"+given.ResponseID, map[string]any{"hidden": true}),
				Status: http.StatusNoContent, Check: func(t testing.TB, _ onesynthtest.Reply) {
					if got := a.question(t, asked.QuestionID); got.HiddenResponses != 1 || len(got.Responses) != 0 {
						t.Errorf("got %+v; want its answer hidden", got)
					}
				}}
		},
		"PUT /operator/blocks": func(t *testing.T) platform.Request {
			a := newClient(t, on).newAgent()
			return platform.Request{Send: byOperator(t, http.MethodPut, "/operator/blocks",
				map[string]any{"agent_id": a.id, "blocked": true}), Status: http.StatusNoContent,
				Check: func(t testing.TB, _ onesynthtest.Reply) {
					refused(t, a.try(t, http.MethodPost, "/agent/questions", textQuestion(1)), http.StatusForbidden,
						"BLOCKED")
				}}
		},
		"GET /human/stats":       personReads("/human/stats"),
		"GET /human/responses":   personReads("/human/responses"),
		"GET /human/data":        personReads("/human/data"),
		"GET /human/leaderboard": personReads("/human/leaderboard"),
		"GET /openapi.json":      personReads("/openapi.json"),
		"PUT /human/handle":      named(http.MethodPut, map[string]any{"handle": "Under Load"}, "Under Load"),
		"DELETE /human/handle":   named(http.MethodDelete, nil, ""),
		"DELETE /human/data": func(t *testing.T) platform.Request {
			one, hash := answered(t)
			return platform.Request{Send: byPerson(one, http.MethodDelete, "/human/data", nil), Status: http.StatusOK,
				Check: func(t testing.TB, _ onesynthtest.Reply) { forgotten(t, hash) }}
		},
		"GET /operator/data":        operated(http.MethodGet, "/operator/data", http.StatusOK, nil),
		"DELETE /operator/data":     operated(http.MethodDelete, "/operator/data", http.StatusOK, forgotten),
		"GET /operator/leaderboard": operated(http.MethodGet, "/operator/leaderboard", http.StatusOK, nil),
		"PUT /operator/handles":     operated(http.MethodPut, "/operator/handles", http.StatusNoContent, nil),
	}, func(t *testing.T, share float64) {
		// A run that cannot even read what is due fails, and comes again.
		if err := on.Run.RunSchedule(t.Context(), on.Schedule(t, "")); share == 1 && err == nil {
			t.Error("a run of the notifier succeeded without a table")
		}
	}, func(t *testing.T) {
		one := newClient(t, on).newPerson()
		token := onesynthtest.Unique("token")
		one.subscribe(t, subscribe{token, 5})
		newClient(t, on).newAgent().ask(t, textQuestion(50))
		on.runNotifier(t)
		perToken := map[string]int{}
		for _, push := range on.pushes(t) {
			perToken[push.Token]++
		}
		if perToken[token] != 1 {
			t.Errorf("got %d notifications of someone new; want 1", perToken[token])
		}
		for one, n := range perToken {
			if n > 1 {
				t.Errorf("%s: got %d notifications; want at most 1", one, n)
			}
		}
		for _, item := range on.Items(t, "Guards") {
			if ids, _ := item["open_question_ids"].([]string); len(ids) > 1 {
				t.Errorf("got %d places of an agent who asked once", len(ids))
			}
		}
	})
}
