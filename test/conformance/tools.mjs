// The official TypeScript client of the Model Context Protocol, which holds each result against the tool's output
// schema. It is run by mcp_conformance_test.go.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const base = process.env.BASE_URL;
const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`),
  { requestInit: { headers: { "X-Agent-Id": `agent-${randomUUID()}` } } }));
const { tools } = await client.listTools();
for (const tool of tools) assert.equal(tool.outputSchema?.type, "object", tool.name);

const used = new Set();
async function call(name, args) {
  used.add(name);
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result.content));
  return result.structuredContent;
}

const { question_id } = await call("ask_human",
  { prompt: "Which label is clearer for a button that sends a form?", options: ["Send", "Submit"], min_responses: 2 });
assert.equal((await call("check_question", { question_id })).status, "OPEN");
const answered = await fetch(`${base}/human/responses`, {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-Fingerprint": `person-${randomUUID()}` },
  body: JSON.stringify({ question_id, selected_option: 1, confidence: 4 }),
});
assert.equal(answered.status, 201, await answered.text());
const waited = await call("wait_for_answers", { question_id, seen: 0 });
assert.deepEqual([waited.status, waited.current_responses, waited.responses.length], ["PARTIAL", 1, 1]);
const several = await call("wait_for_answers", { questions: [{ question_id, seen: 0 }] });
assert.deepEqual([several.questions[0].responses[0].untrusted, several.waiting, several.more], [true, [], []]);
assert.deepEqual((await call("list_questions", { status: "PARTIAL" })).questions.map((one) => one.question_id),
  [question_id]);
assert.deepEqual(await call("close_question", { question_id }), { question_id, ended: true });

const refused = await client.callTool({ name: "ask_human", arguments: { prompt: "short" } });
assert.ok(refused.isError);
await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), { code: -32602 });
assert.deepEqual([...used].sort(), tools.map((tool) => tool.name).sort());
await client.close();
