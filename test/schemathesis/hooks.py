"""What an OpenAPI document cannot say of requests, for Schemathesis."""

import uuid
import zoneinfo

import schemathesis
from hypothesis import strategies

# Known formats are generated; of others, such as this one, only the type is.
schemathesis.openapi.format("iana-time-zone", strategies.sampled_from(sorted(zoneinfo.available_timezones() - {"localtime"})))


@schemathesis.hook
def filter_case(context, case):
    """Headers are ASCII: how API Gateway passes other bytes on is not defined (RFC 9110,
    section 5.5). A repeated parameter that is no list is read once."""
    headers = all(str(value).isascii() for value in (case.headers or {}).values())
    query = all(name == "audience" or not isinstance(value, (list, dict)) for name, value in (case.query or {}).items())
    return headers and query


@schemathesis.hook
def before_call(context, case, kwargs):
    """Requests that the document allows have a new idempotency key each: with one that
    was used for another request they would be refused, rightly. Nor do they have a cursor
    that no page gave them, or days that end before they begin. Attempts are not completed, and
    have no answers: these are to the questions of a scenario, which no document lists."""
    if not case.meta or not case.meta.generation.mode.is_positive:
        return
    key = str(uuid.uuid4())
    for name in ("Idempotency-Key", "X-Idempotency-Key"):
        if case.headers and name in case.headers:
            case.headers[name] = key
    if isinstance(case.body, dict) and "idempotency_key" in case.body:
        case.body["idempotency_key"] = key
    if isinstance(case.body, dict) and case.operation.path.startswith("/attempts"):
        case.body["answers"] = []
        if case.body.get("status") != "abandoned":
            case.body["status"] = "in-progress"
    query = case.query or {}
    query.pop("cursor", None)
    query.pop("nextToken", None)
    if "due_from" in query and "due_to" in query:
        query["due_from"], query["due_to"] = sorted((query["due_from"], query["due_to"]))
