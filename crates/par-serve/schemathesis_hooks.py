"""What schemathesis has to be told of this service beside its OpenAPI document."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson", "text/csv")
def as_text(ctx, value):
    """Lines of JSON and tables are texts; what is none is sent as its JSON."""
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "surrogatepass")


@schemathesis.hook
def map_body(ctx, body):
    """A range starts at its lower end and holds a whole number, which JSON Schema cannot say: others get 422."""
    for asked in (body, body.get("parameters")) if isinstance(body, dict) else ():
        limits = asked.get("limit") if isinstance(asked, dict) else None
        for limit in limits.values() if isinstance(limits, dict) else ():
            ends = limit.get("between") if isinstance(limit, dict) else None
            if isinstance(ends, list) and len(ends) == 2 and all(type(end) in (int, float) for end in ends):
                lowest, highest = sorted(ends)
                ends[:] = lowest, max(highest, lowest + 1)
    return body
