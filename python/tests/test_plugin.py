"""The modes of the plugin, with clients that write JSON lines. examples/python-agent tests it with the official SDK."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    else:
        result = {"content": [{"type": "text", "text": "live " + message["params"]["arguments"]["q"]}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""

TEST = """
import json, os, subprocess, sys, urllib.request
LIVE = [sys.executable, "server.py"]
OPEN = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}

def messages():
    yield {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OPEN}
    yield {"jsonrpc": "2.0", "method": "notifications/initialized"}
    for at, q in enumerate(os.environ.get("QUERIES", "tea,milk").split(",")):
        yield {"jsonrpc": "2.0", "id": at + 1, "method": "tools/call", "params": {"name": "ask", "arguments": {"q": q}}}

def ask(command, args, env):
    text = "".join(json.dumps(each) + "\\n" for each in messages())
    run = subprocess.run([command, *args], input=text, env=env, capture_output=True, text=True)
    return run.stdout

def post(url):
    session = {}
    for each in messages():
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", **session}
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(each).encode(), headers)) as answer:
            session.update({"mcp-session-id": answer.headers[h] for h in ["mcp-session-id"] if answer.headers[h]})
            yield answer.read().decode()

def test_it(reelay_tape):
    options = json.loads(os.environ.get("OPTIONS", "{}"))
    url = os.environ.get("LIVE_URL")
    tape = reelay_tape(**{"live": url or LIVE, **options})
    said = "".join(post(tape.url())) if url else ask(**tape.stdio())
    assert os.environ.get("EXPECT", "live tea") in said
"""


@pytest.fixture
def project(pytester, monkeypatch):
    pytester.makepyfile(server=SERVER, test_one=TEST)
    for name in ["CI", "REELAY_MODE"]:
        monkeypatch.delenv(name, raising=False)

    def run(*args, **variables):
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            return pytester.runpytest_inprocess("-p", "no:cacheprovider", *args)

    return run


TAPE = Path("__tapes__/test_one/test_it.tape.jsonl")


def test_a_tape_is_recorded_if_the_test_passes_and_then_needs_no_server(project):
    project(EXPECT="something else").assert_outcomes(failed=1)
    assert not TAPE.parent.exists() or list(TAPE.parent.iterdir()) == []
    project().assert_outcomes(passed=1)
    assert list(TAPE.parent.iterdir()) == [TAPE]
    os.remove("server.py")
    project(CI="1").assert_outcomes(passed=1)
    failed = project(QUERIES="tea")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["1 recorded exchange unused:", '  #3 tools/call ask {"q":"milk"}'])
    project(QUERIES="tea", OPTIONS='{"drift": "ignore"}').assert_outcomes(passed=1)
    project(QUERIES="milk,tea", OPTIONS='{"request_order": "any"}').assert_outcomes(passed=1)


def test_modes_decide_what_is_recorded(project):
    missing = project("--record-mode=none")
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*there is no tape __tapes__/test_one/test_it.tape.jsonl, and nothing is recorded*"])
    project().assert_outcomes(passed=1)
    project("--record-mode=new-episodes", QUERIES="tea,milk,bread").assert_outcomes(passed=1)
    assert '"bread"' in TAPE.read_text()
    rewritten = project(REELAY_MODE="rewrite", QUERIES="tea")
    rewritten.assert_outcomes(passed=1)
    rewritten.stderr.fnmatch_lines(["reelay: REELAY_MODE=rewrite overrides --record-mode"])
    assert '"milk"' not in TAPE.read_text()
    wrong = project(REELAY_MODE="rewrit")
    assert "REELAY_MODE=rewrit is not a mode; use one of auto, once" in wrong.stdout.str()


SESSIONS = """
from test_one import LIVE, ask
import os

def test_sessions(reelay_tape):
    tape = reelay_tape(live=LIVE)
    for query in os.environ.get("SESSIONS", "tea,milk,tea").split(","):
        os.environ["QUERIES"] = query
        assert "live " + query in ask(**tape.stdio())
"""


def test_a_test_may_start_its_server_several_times(project, pytester, monkeypatch):
    pytester.makepyfile(test_two=SESSIONS)
    monkeypatch.setenv("QUERIES", "")
    project("test_two.py::test_sessions").assert_outcomes(passed=1)
    assert [path.name for path in Path("__tapes__/test_two").iterdir()] == ["test_sessions.tape.jsonl"]
    project("test_two.py::test_sessions", CI="1").assert_outcomes(passed=1)
    failed = project("test_two.py::test_sessions", CI="1", SESSIONS="tea,milk")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["1 recorded exchange unused:", '  #6 tools/call ask {"q":"tea"}'])


def test_faults_and_overrides_change_a_replay(project):
    project(QUERIES="tea").assert_outcomes(passed=1)
    faults = json.dumps({"faults": [{"tool": "ask", "error": {"code": -32000, "message": "busy"}}], "drift": "ignore"})
    project(QUERIES="tea", OPTIONS=faults, EXPECT="busy").assert_outcomes(passed=1)
    overrides = json.dumps({"overrides": [{"tool": "ask", "result": {"content": []}}]})
    project(QUERIES="tea", OPTIONS=overrides, EXPECT='"content":[]').assert_outcomes(passed=1)


def test_a_server_at_a_url_is_recorded_and_replayed(project, request):
    project().assert_outcomes(passed=1)
    reelay = request.config.getini("reelay_command") or "reelay"
    os.rename(TAPE, "live.tape.jsonl")
    with subprocess.Popen([reelay, "serve", "live.tape.jsonl", "--http"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as live:
        url = next(found[0] for line in live.stdout for found in [re.search(r"http://\S+", line)] if found)
        project(LIVE_URL=url).assert_outcomes(passed=1)
        live.terminate()
        live.communicate()
    project(LIVE_URL=url, CI="1").assert_outcomes(passed=1)
    failed = project(LIVE_URL=url, CI="1", QUERIES="milk,tea")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["sent in another order than recorded:"])
