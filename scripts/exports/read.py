"""Reads an export with a program of others, and prints what it found in it."""

import base64
import json
import sys


def otlp(content):
    from google.protobuf.json_format import Parse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    # The JSON of OTLP has ids in hexadecimal, the JSON of Protocol Buffers in base64.
    for span in spans_of(content):
        for name in ("traceId", "spanId", "parentSpanId"):
            if span.get(name):
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    request = Parse(json.dumps(content), ExportTraceServiceRequest())
    spans = [
        span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans
    ]
    for span in spans:
        assert len(span.trace_id) == 16 and len(span.span_id) == 8, span.name
        assert span.end_time_unix_nano >= span.start_time_unix_nano, span.name
    return [span.name for span in spans]


def spans_of(content):
    for resource in content["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def agent_vcr(_, path):
    from agent_vcr.replayer import MCPReplayer

    replayer = MCPReplayer.from_file(path)
    calls = [each["request"] for each in json.load(open(path))["session"]["interactions"]]
    asked = [call for call in calls if call["method"].startswith("tools/")]
    answers = [replayer.handle_request({**call, "id": 100 + nth}) for nth, call in enumerate(asked)]
    return [json.dumps(answer) for answer in answers]


kind, path = sys.argv[1:]
content = json.load(open(path, encoding="utf-8"))
print("\n".join(otlp(content) if kind == "otlp" else agent_vcr(content, path)))
