import sys

import anyio
from agent import triage
from mcp import StdioServerParameters


def test_issues_get_labels(reelay_tape):
    tape = reelay_tape("triage", live=[sys.executable, "server.py"])
    said = anyio.run(triage, StdioServerParameters(**tape.stdio()), "login")
    assert said == ["2 issues about login: #7, #9", "#7 is urgent", "#9 is later"]
