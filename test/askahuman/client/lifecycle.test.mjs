// The published client @ask-a-human/sdk, unmodified: only its base URL is another.
// It is run by sdk_test.go.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import {
  AbortError, AskHumanClient, AskHumanError, AskHumanOrchestrator, QuestionNotFoundError, QuotaExceededError,
    RateLimitError, ServerError,
  ValidationError,
} from "@ask-a-human/sdk";

const baseUrl = process.env.BASE_URL;
// Where agents show keys, there is one for each client; otherwise agents have names of their own choice.
const keys = process.env.AGENT_KEYS?.split(",");
const newAgentId = () => (keys ? keys.pop() ?? assert.fail("the tests need more keys") : `agent-${randomUUID()}`);
const newClient = (agentId = newAgentId()) => new AskHumanClient({ baseUrl, agentId });

/** A person answers a question. */
async function answer(questionId, given) {
  const response = await fetch(`${baseUrl}/human/responses`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Fingerprint": `person-${randomUUID()}` },
    body: JSON.stringify({ question_id: questionId, ...given }),
  });
  assert.equal(response.status, 201, await response.text());
}

/** An error of that class, with code and message. */
const errorOf = (type, code, also = () => {}) => (error) => {
  assert.ok(error instanceof type, `got ${error?.name}: ${error?.message}`);
  assert.equal(error.code, code);
  assert.ok(error.message.length > 10, error.message);
  assert.equal(error.toString(), `[${code}] ${error.message}`);
  also(error);
  return true;
};

describe("the published client", { concurrency: true }, () => {
  it("sees a text question OPEN, PARTIAL and CLOSED", async () => {
    const client = newClient();
    const submitted = await client.submitQuestion({
      prompt: "Should error messages apologise to people?", type: "text", audience: ["product", "creative"],
        minResponses: 2,
    });
    assert.equal(submitted.status, "OPEN");
    assert.equal(submitted.pollUrl, `/agent/questions/${submitted.questionId}`);
    assert.ok(Date.parse(submitted.expiresAt) > Date.parse(submitted.createdAt));

    let question = await client.getQuestion(submitted.questionId);
    assert.equal(question.status, "OPEN");
    assert.equal(question.requiredResponses, 2);
    assert.deepEqual(question.responses, []);

    await answer(submitted.questionId, { answer: "Only if it is our fault.", confidence: 4 });
    question = await client.getQuestion(submitted.questionId);
    assert.equal(question.status, "PARTIAL");
    assert.equal(question.currentResponses, 1);
    assert.deepEqual(question.responses, [{ answer: "Only if it is our fault.", selectedOption: undefined,
      confidence: 4 }]);

    await answer(submitted.questionId, { answer: "Say what to do instead." });
    question = await client.getQuestion(submitted.questionId);
    assert.equal(question.status, "CLOSED");
    assert.ok(Date.parse(question.closedAt) > 0);
    assert.equal(question.responses[1].confidence, undefined);
  });

  it("sees the summary of a multiple choice question", async () => {
    const client = newClient();
    const { questionId } = await client.submitQuestion({
      prompt: "Which button label is clearer?", type: "multiple_choice", options: ["Submit", "Send", "Confirm"],
        minResponses: 3,
    });
    let question = await client.getQuestion(questionId);
    assert.deepEqual(Object.entries(question.summary), [["Submit", 0], ["Send", 0], ["Confirm", 0]]);
    for (const option of [0, 2, 0]) await answer(questionId, { selected_option: option });
    question = await client.getQuestion(questionId);
    assert.equal(question.status, "CLOSED");
    assert.deepEqual(question.options, ["Submit", "Send", "Confirm"]);
    assert.deepEqual(Object.entries(question.summary), [["Submit", 2], ["Send", 0], ["Confirm", 1]]);
    assert.deepEqual(question.responses.map((r) => r.selectedOption).sort(), [0, 0, 2]);
  });

  it("sees a question EXPIRED", async () => {
    const question = await newClient(process.env.EXPIRED_AGENT).getQuestion(process.env.EXPIRED_QUESTION);
    assert.equal(question.status, "EXPIRED");
    assert.equal(question.responses.length, 1);
  });

  it("repeats a submission by its idempotency key", async () => {
    const client = newClient();
    const options = { prompt: "Is this one question or two?", type: "text", idempotencyKey: randomUUID() };
    const [first, second] = await Promise.all([client.submitQuestion(options), client.submitQuestion(options)]);
    assert.equal(first.questionId, second.questionId);
    await assert.rejects(client.submitQuestion({ ...options, prompt: "And is this the same one?" }),
      errorOf(ValidationError, "VALIDATION_ERROR", (error) => {
      assert.deepEqual([error.field, error.constraint], ["idempotency_key", "conflict"]);
    }));
  });

  it("throws ValidationError with field and constraint", async () => {
    const client = newClient();
    const prompt = "Which button label is clearer?";
    for (const [field, constraint, also, asked] of [
      ["prompt", "length", { min: 10, max: 2000 }, { prompt: "Why?", type: "text" }],
      ["prompt", "required", {}, { type: "text" }],
      ["prompt", "type", {}, { prompt: 7, type: "text" }],
      ["type", "enum", { allowed: ["text", "multiple_choice"] }, { prompt, type: "number" }],
      ["min_responses", "range", { min: 1, max: 50 }, { prompt, type: "text", minResponses: 51 }],
      ["timeout_seconds", "range", { min: 60, max: 86400 }, { prompt, type: "text", timeoutSeconds: 1 }],
      ["options", "conflict", {}, { prompt, type: "text", options: ["Submit", "Send"] }],
      ["options", "required", {}, { prompt, type: "multiple_choice" }],
      ["options", "length", { min: 2, max: 10 }, { prompt, type: "multiple_choice", options: ["Submit"] }],
      ["options", "unique", { index: 1 }, { prompt, type: "multiple_choice", options: ["Submit", "Submit"] }],
      ["audience", "enum", { index: 0, allowed: ["technical", "product", "ethics", "creative", "general"] },
        { prompt, type: "text", audience: ["all"] }],
    ]) {
      await assert.rejects(client.submitQuestion(asked), errorOf(ValidationError, "VALIDATION_ERROR", (error) => {
        assert.deepEqual([error.field, error.constraint], [field, constraint]);
        assert.ok(error.message.startsWith(field), error.message);
        const { problems, ...first } = error.details;
        assert.deepEqual(first, { field, constraint, ...also });
        assert.deepEqual(problems, [{ ...first, message: error.message }]);
      }));
    }
    const nobody = newClient("a".repeat(129)).getQuestion(randomUUID());
    await assert.rejects(nobody, keys ? errorOf(AskHumanError, "UNAUTHORIZED")
      : errorOf(ValidationError, "VALIDATION_ERROR", (error) => {
      assert.deepEqual([error.field, error.constraint, error.details.max], ["X-Agent-Id", "length", 128]);
    }));
  });

  it("throws its other typed errors", async () => {
    const client = newClient();
    const unknown = randomUUID();
    await assert.rejects(client.getQuestion(unknown), errorOf(QuestionNotFoundError, "QUESTION_NOT_FOUND", (error) => {
      assert.equal(error.questionId, unknown);
    }));
    await assert.rejects(
      newClient(process.env.QUOTA_AGENT).submitQuestion({ prompt: "Is there room for one more?", type: "text" }),
      errorOf(QuotaExceededError, "AGENT_QUOTA_EXCEEDED"),
    );
  });

  // Also where DynamoDB throttles, or rotations meet: a RateLimitError would be the client's own limit.
  for (const status of [500, 503]) {
    it(`throws ServerError for ${status}`, async () => {
      // The platform does not fail when asked to, so another server says what the
      // platform's document says that it says then.
      const document = await (await fetch(`${baseUrl}/openapi.json`)).json();
      const said = document.paths["/agent/questions"].post.responses[status].content["application/json"].example;
      const failing = createServer((_, response) =>
        response.writeHead(status, { "Content-Type": "application/json",
          "Retry-After": "1" }).end(JSON.stringify(said)));
      failing.listen(0, "127.0.0.1");
      await once(failing, "listening");
      try {
        const client = new AskHumanClient({ baseUrl: `http://127.0.0.1:${failing.address().port}` });
        await assert.rejects(client.getQuestion("x"),
          errorOf(ServerError, "SERVER_ERROR", (error) => assert.equal(error.statusCode, status)));
      } finally {
        failing.close();
        failing.closeAllConnections();
      }
    });
  }

  it("throws AskHumanError when it hears nothing", async () => {
    const impatient = new AskHumanClient({ baseUrl, agentId: "impatient", timeout: 1e-3, fetch: (url, options) =>
      new Promise((resolve, reject) => { options.signal.addEventListener("abort", () => fetch(url, options)
        .then(resolve, reject)); }) });
    await assert.rejects(impatient.getQuestion(randomUUID()), errorOf(AskHumanError, "TIMEOUT"));
    await assert.rejects(new AskHumanClient({ baseUrl: "http://127.0.0.1:1" }).getQuestion("x"),
      errorOf(AskHumanError, "UNKNOWN_ERROR"));
  });

  it("throws RateLimitError with all that it needs to wait", async () => {
    const client = newClient();
    const submit = () => client.submitQuestion({ prompt: "short", type: "text" });
    const errors = [];
    for (let i = 0; i < 61; i++) await submit().catch((error) => errors.push(error));
    errorOf(RateLimitError, "RATE_LIMITED", (error) => {
      assert.equal(error.limit, 60);
      assert.equal(error.remaining, 0);
      assert.ok(error.retryAfter >= 1 && error.retryAfter <= 3600, `retryAfter ${error.retryAfter}`);
      assert.ok(error.reset > Date.now() / 1000, `reset ${error.reset}`);
    })(errors.at(-1));
  });

  it("polls, and waits for some answers of several questions", async () => {
    const orchestrator = new AskHumanOrchestrator(newClient(), { pollInterval: 50, maxBackoff: 200 });
    const first = await orchestrator.submit({ prompt: "Should error messages apologise?", type: "text",
      minResponses: 2 });
    const second = await orchestrator.submit({ prompt: "Should they be shown at all?", type: "multiple_choice",
      options: ["Yes", "No"], minResponses: 1 });
    const ids = [first.questionId, second.questionId];
    assert.deepEqual(Object.values(await orchestrator.pollOnce(ids)).map((q) => q.status), ["OPEN", "OPEN"]);
    // What there is when the time is over.
    const early = await orchestrator.awaitResponses(ids, { timeout: 1 });
    assert.deepEqual(ids.map((id) => early[id].currentResponses), [0, 0]);
    await answer(ids[0], { answer: "Only if it is our fault." });
    await answer(ids[1], { selected_option: 1 });
    const awaited = await orchestrator.awaitResponses(ids, { timeout: 60_000 });
    assert.deepEqual(ids.map((id) => awaited[id].status), ["PARTIAL", "CLOSED"]);
  });

  it("throws AbortError when the caller gives up", async () => {
    const orchestrator = new AskHumanOrchestrator(newClient(), { pollInterval: 60_000 });
    const giveUp = new AbortController();
    const waiting = orchestrator.submitAndWait({ prompt: "Is anybody out there?", type: "text" },
      { signal: giveUp.signal });
    giveUp.abort();
    await assert.rejects(waiting, errorOf(AbortError, "ABORTED"));
  });

  it("submits and waits until people have answered", async () => {
    const client = newClient();
    const prompt = `Should we proceed with option A or B of ${randomUUID()}?`;
    const orchestrator = new AskHumanOrchestrator(client, { pollInterval: 50, maxBackoff: 200 });
    const waiting = orchestrator.submitAndWait(
      { prompt, type: "multiple_choice", options: ["A", "B"], audience: ["ethics"], minResponses: 3 },
      { timeout: 150_000 },
    );
    // People find the question in their feed.
    let found;
    for (let attempt = 0; !found && attempt < 100; attempt++) {
      const feed = await (await fetch(`${baseUrl}/human/questions?audience=ethics&limit=50`)).json();
      found = feed.questions.find((q) => q.prompt === prompt);
      if (!found) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    for (const option of [1, 1, 0]) await answer(found.question_id, { selected_option: option });
    const question = await waiting;
    assert.equal(question.status, "CLOSED");
    assert.deepEqual(question.summary, { A: 1, B: 2 });
  });
});
