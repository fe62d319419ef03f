"""What an OpenAPI document cannot say of requests, for Schemathesis."""

import re
import unicodedata
import uuid
import zoneinfo

import schemathesis
from hypothesis import strategies

# Known formats are generated; of others, such as this one, only the type is.
schemathesis.openapi.format("iana-time-zone", strategies.sampled_from(sorted(zoneinfo.available_timezones() - {"localtime"})))


def members(category):
    """The characters of a category of Unicode, such as Mn or L, as a bracket expression has them: those of Latin-1, to
    which schemathesis.toml keeps texts."""
    return "".join(f"\\x{code:02x}" for code in range(256) if unicodedata.category(chr(code)).startswith(category))


def spelled_out(pattern):
    """The pattern with these characters instead of the escapes \\p{…}: of most of them Schemathesis generates no texts."""
    def part(match):
        return re.sub(r"\\p\{(\w+)\}", lambda escape: members(escape[1]), match[0])
    return re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", part, pattern)


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Patterns mean the same, in a spelling that Schemathesis can generate texts of."""
    def visit(value):
        if isinstance(value, list):
            for each in value:
                visit(each)
        if isinstance(value, dict):
            if isinstance(value.get("pattern"), str):
                value["pattern"] = spelled_out(value["pattern"])
            for each in value.values():
                visit(each)
    visit(raw_schema)


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
