// The published client @ask-a-human/sdk, unmodified: only its base URL is another.
// It is run by sdk_test.go.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import {
  AskHumanClient, AskHumanOrchestrator, QuestionNotFoundError, QuotaExceededError, RateLimitError, ValidationError,
} from "@ask-a-human/sdk";

const baseUrl = process.env.BASE_URL;
const newClient = (agentId = `agent-${randomUUID()}`) => new AskHumanClient({ baseUrl, agentId });

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
  also(error);
  return true;
};

describe("the published client", { concurrency: true }, () => {
  it("sees a text question OPEN, PARTIAL and CLOSED", async () => {
    const client = newClient();
    const submitted = await client.submitQuestion({
      prompt: "Should error messages apologise to people?", type: "text", audience: ["product", "creative"], minResponses: 2,
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
    assert.deepEqual(question.responses, [{ answer: "Only if it is our fault.", selectedOption: undefined, confidence: 4 }]);

    await answer(submitted.questionId, { answer: "Say what to do instead." });
    question = await client.getQuestion(submitted.questionId);
    assert.equal(question.status, "CLOSED");
    assert.ok(Date.parse(question.closedAt) > 0);
    assert.equal(question.responses[1].confidence, undefined);
  });

  it("sees the summary of a multiple choice question", async () => {
    const client = newClient();
    const { questionId } = await client.submitQuestion({
      prompt: "Which button label is clearer?", type: "multiple_choice", options: ["Submit", "Send", "Confirm"], minResponses: 3,
    });
    for (const option of [0, 2, 0]) await answer(questionId, { selected_option: option });
    const question = await client.getQuestion(questionId);
    assert.equal(question.status, "CLOSED");
    assert.deepEqual(question.options, ["Submit", "Send", "Confirm"]);
    assert.deepEqual(question.summary, { Submit: 2, Send: 0, Confirm: 1 });
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
    await assert.rejects(client.submitQuestion({ ...options, prompt: "And is this the same one?" }), errorOf(ValidationError, "VALIDATION_ERROR"));
  });

  it("throws its typed errors", async () => {
    const client = newClient();
    await assert.rejects(client.submitQuestion({ prompt: "short", type: "text" }), errorOf(ValidationError, "VALIDATION_ERROR"));
    const unknown = randomUUID();
    await assert.rejects(client.getQuestion(unknown), errorOf(QuestionNotFoundError, "QUESTION_NOT_FOUND", (error) => {
      assert.equal(error.questionId, unknown);
    }));
    await assert.rejects(
      newClient(process.env.QUOTA_AGENT).submitQuestion({ prompt: "Is there room for one more?", type: "text" }),
      errorOf(QuotaExceededError, "AGENT_QUOTA_EXCEEDED"),
    );
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
