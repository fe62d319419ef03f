"""The published client ask-a-human of PyPI, unmodified: only its base URL is another.

sdk_test.go runs it. By hand:

    BASE_URL=http://127.0.0.1:8080 python sdk_test.py

AGENT_KEYS are keys with commas between them, where agents show keys. QUOTA_AGENT is an
agent who may not ask more, EXPIRED_AGENT one whose question EXPIRED_QUESTION has expired
with one answer. Without these, their tests are skipped.
"""

import http.server
import json
import os
import threading
import time
import unittest
import uuid

import httpx
from ask_a_human import (
    AskHumanClient, AskHumanError, AskHumanOrchestrator, QuestionNotFoundError, RateLimitError, ServerError, ValidationError,
)
from ask_a_human.exceptions import QuotaExceededError

BASE_URL = os.environ["BASE_URL"]
PROMPT = "Should error messages apologise to people?"


KEYS = [key for key in os.environ.get("AGENT_KEYS", "").split(",") if key]
KEYED = bool(KEYS)


def new_agent_id():
    return KEYS.pop() if KEYED else f"agent-{uuid.uuid4()}"


def new_client(agent_id=None):
    return AskHumanClient(base_url=BASE_URL, agent_id=agent_id or new_agent_id())


def answer(question_id, **given):
    """A person answers a question."""
    response = httpx.post(
        f"{BASE_URL}/human/responses", json={"question_id": question_id, **given},
        headers={"X-Fingerprint": f"person-{uuid.uuid4()}"}, timeout=30,
    )
    assert response.status_code == 201, response.text


def required(name):
    value = os.environ.get(name)
    if not value:
        raise unittest.SkipTest(f"{name} is not set")
    return value


class Client(unittest.TestCase):
    """AskHumanClient, each method of which there is."""

    def test_text_question(self):
        with new_client() as client:
            submitted = client.submit_question(prompt=PROMPT, type="text", audience=["product", "creative"], min_responses=2)
            self.assertEqual(submitted.status, "OPEN")
            self.assertEqual(submitted.poll_url, f"/agent/questions/{submitted.question_id}")
            self.assertGreater(submitted.expires_at, submitted.created_at)
            question = client.get_question(submitted.question_id)
            self.assertEqual((question.status, question.required_responses, question.responses), ("OPEN", 2, []))

            answer(submitted.question_id, answer="Only if it is our fault.", confidence=4)
            question = client.get_question(submitted.question_id)
            self.assertEqual((question.status, question.current_responses), ("PARTIAL", 1))
            self.assertEqual((question.responses[0].answer, question.responses[0].confidence), ("Only if it is our fault.", 4))
            self.assertIsNone(question.responses[0].selected_option)

            answer(submitted.question_id, answer="Say what to do instead.")
            question = client.get_question(submitted.question_id)
            self.assertEqual(question.status, "CLOSED")
            self.assertIsNotNone(question.closed_at)
            self.assertIsNone(question.responses[1].confidence)
            self.assertIsNone(question.summary)

    def test_multiple_choice_question(self):
        client = new_client()
        submitted = client.submit_question(
            prompt="Which button label is clearer?", type="multiple_choice", options=["Submit", "Send", "Confirm"], min_responses=3)
        question = client.get_question(submitted.question_id)
        self.assertEqual(list(question.summary.items()), [("Submit", 0), ("Send", 0), ("Confirm", 0)])
        for option in (0, 2, 0):
            answer(submitted.question_id, selected_option=option)
        question = client.get_question(submitted.question_id)
        self.assertEqual((question.status, question.options), ("CLOSED", ["Submit", "Send", "Confirm"]))
        self.assertEqual(list(question.summary.items()), [("Submit", 2), ("Send", 0), ("Confirm", 1)])
        self.assertEqual(sorted(r.selected_option for r in question.responses), [0, 0, 2])
        client.close()

    def test_expired_question(self):
        with new_client(required("EXPIRED_AGENT")) as client:
            question = client.get_question(required("EXPIRED_QUESTION"))
            self.assertEqual((question.status, len(question.responses)), ("EXPIRED", 1))

    def test_idempotency_key(self):
        with new_client() as client:
            asked = dict(prompt="Is this one question or two?", type="text", idempotency_key=str(uuid.uuid4()))
            self.assertEqual(client.submit_question(**asked).question_id, client.submit_question(**asked).question_id)
            with self.assertRaises(ValidationError) as refused:
                client.submit_question(**{**asked, "prompt": "And is this the same one?"})
            self.assertEqual((refused.exception.field, refused.exception.constraint), ("idempotency_key", "conflict"))

    def test_settings_from_environment(self):
        settings = {"ASK_A_HUMAN_BASE_URL": BASE_URL, "ASK_A_HUMAN_AGENT_ID": new_agent_id()}
        before = {name: os.environ.get(name) for name in settings}
        os.environ.update(settings)
        try:
            with AskHumanClient() as client:
                self.assertEqual(client.submit_question(prompt=PROMPT, type="text").status, "OPEN")
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


class Errors(unittest.TestCase):
    """Every exception that the client raises for an answer."""

    def raised(self, kind, code, call):
        with self.assertRaises(kind) as raised:
            call()
        error = raised.exception
        self.assertIs(type(error), kind)
        self.assertEqual(error.code, code)
        self.assertGreater(len(error.message), 10)
        self.assertTrue(str(error).startswith(f"[{code}] "), str(error))
        return error

    def test_validation_error(self):
        # The client itself refuses what its model knows: the rest is the platform's.
        with new_client() as client:
            for field, constraint, asked in (
                ("options", "conflict", dict(type="text", options=["Yes", "No"])),
                ("options", "required", dict(type="multiple_choice")),
                ("options", "unique", dict(type="multiple_choice", options=["Yes", "Yes"])),
                ("options", "length", dict(type="multiple_choice", options=["x" * 201, "No"])),
                ("idempotency_key", "length", dict(type="text", idempotency_key="k" * 256)),
            ):
                with self.subTest(field=field, constraint=constraint):
                    error = self.raised(ValidationError, "VALIDATION_ERROR", lambda: client.submit_question(prompt=PROMPT, **asked))
                    self.assertEqual((error.field, error.constraint), (field, constraint))
                    self.assertTrue(error.message.startswith(field), error.message)
                    first = error.details["problems"][0]
                    self.assertEqual((first["field"], first["constraint"]), (field, constraint))
            error = self.raised(ValidationError, "VALIDATION_ERROR", lambda: client.submit_question(
                prompt=PROMPT, type="multiple_choice", options=["x" * 201, "No"]))
            self.assertEqual((error.details["min"], error.details["max"]), (1, 200))

    @unittest.skipUnless(KEYED, "agents are open")
    def test_unknown_key(self):
        with new_client("me") as client:
            self.raised(AskHumanError, "UNAUTHORIZED", lambda: client.submit_question(prompt=PROMPT, type="text"))

    def test_question_not_found_error(self):
        unknown = str(uuid.uuid4())
        with new_client() as client:
            error = self.raised(QuestionNotFoundError, "QUESTION_NOT_FOUND", lambda: client.get_question(unknown))
            self.assertEqual(error.question_id, unknown)
            self.assertEqual(error.details, {})

    def test_quota_exceeded_error(self):
        with new_client(required("QUOTA_AGENT")) as client:
            self.raised(QuotaExceededError, "AGENT_QUOTA_EXCEEDED", lambda: client.submit_question(prompt="Is there room for one more?", type="text"))

    def test_rate_limit_error(self):
        with new_client() as client:
            def ask():
                client.submit_question(prompt=PROMPT, type="text", options=["Yes", "No"])
            for _ in range(60):
                try:
                    ask()
                except (ValidationError, RateLimitError):
                    pass
            error = self.raised(RateLimitError, "RATE_LIMITED", ask)
            self.assertEqual((error.limit, error.remaining), (60, 0))
            self.assertTrue(1 <= error.retry_after <= 3600, error.retry_after)
            self.assertGreater(error.reset, time.time())

    def test_server_error(self):
        # The platform does not fail when asked to, so another server says what the
        # platform's document says that it says then: 503 also where DynamoDB throttles, or
        # rotations meet. A RateLimitError would be the client's own limit.
        document = httpx.get(f"{BASE_URL}/openapi.json", timeout=30).json()
        responses = document["paths"]["/agent/questions"]["post"]["responses"]
        for status in (500, 503):
            body = responses[str(status)]["content"]["application/json"]["example"]

            class Failing(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    self.rfile.read(int(self.headers["Content-Length"]))
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Retry-After", "1")
                    self.end_headers()
                    self.wfile.write(json.dumps(body).encode())

                def log_message(self, *_):
                    pass

            with self.subTest(status=status), http.server.HTTPServer(("127.0.0.1", 0), Failing) as server:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                with AskHumanClient(base_url=f"http://127.0.0.1:{server.server_port}", agent_id="me") as client:
                    error = self.raised(ServerError, "SERVER_ERROR", lambda: client.submit_question(prompt=PROMPT, type="text"))
                    self.assertEqual(error.status_code, status)
                server.shutdown()

    def test_one_base_class(self):
        for kind in (ValidationError, QuestionNotFoundError, QuotaExceededError, RateLimitError, ServerError):
            self.assertTrue(issubclass(kind, AskHumanError))


class Orchestrator(unittest.TestCase):
    """AskHumanOrchestrator, each method of which there is."""

    def test_submit_and_poll(self):
        with new_client() as client:
            orchestrator = AskHumanOrchestrator(client, poll_interval=0.05, max_backoff=0.2)
            first = orchestrator.submit(prompt=PROMPT, type="text", min_responses=2)
            second = orchestrator.submit(prompt=PROMPT, type="multiple_choice", options=["Yes", "No"])
            polled = orchestrator.poll_once([first.question_id, second.question_id])
            self.assertEqual({q.status for q in polled.values()}, {"OPEN"})
            for question_id, given in ((first.question_id, dict(answer="Yes, it should.")), (second.question_id, dict(selected_option=1))):
                answer(question_id, **given)
            awaited = orchestrator.await_responses([first.question_id, second.question_id], min_responses=1, timeout=60)
            self.assertEqual({q.status for q in awaited.values()}, {"PARTIAL"})
            # What is there when the time is over.
            partial = orchestrator.await_responses([first.question_id], min_responses=2, timeout=0.2)
            self.assertEqual(partial[first.question_id].current_responses, 1)

    def test_submit_and_wait(self):
        prompt = f"Should we proceed with option A or B of {uuid.uuid4()}?"
        found = threading.Event()

        def people():
            """They find the question in their feed."""
            while not found.is_set():
                feed = httpx.get(f"{BASE_URL}/human/questions", params={"audience": "creative", "limit": 100},
                                 headers={"X-Fingerprint": f"reader-{uuid.uuid4()}"}, timeout=30).json()
                for question in feed["questions"]:
                    if question["prompt"] == prompt:
                        found.set()
                        for option in (1, 1, 0):
                            answer(question["question_id"], selected_option=option)
                        return
                time.sleep(0.1)

        answering = threading.Thread(target=people)
        answering.start()
        try:
            with new_client() as client:
                question = AskHumanOrchestrator(client, poll_interval=0.05, max_backoff=0.2).submit_and_wait(
                    prompt=prompt, type="multiple_choice", options=["A", "B"], audience=["creative"], min_responses=3, wait_timeout=120)
        finally:
            found.set()
            answering.join()
        self.assertEqual(question.status, "CLOSED")
        self.assertEqual(list(question.summary.items()), [("A", 1), ("B", 2)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
