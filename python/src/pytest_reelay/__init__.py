"""Record the MCP servers of a test to a tape, and replay them without the servers.

The plugin is thin: ``reelay record`` and ``reelay serve`` do the work, and report what differs in a file.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

MODES = ("auto", "once", "none", "new-episodes", "rewrite", "all")
REPORT_VARIABLE = "REELAY_REPLAY_REPORT"
STOP_SECONDS = 10
LONGEST_NAME = 60


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("reelay").addoption(
        "--record-mode",
        default="auto",
        choices=MODES,
        help="when tapes are recorded; auto is once, and none in CI. REELAY_MODE overrides it",
    )
    parser.addini("reelay_command", "the command that runs Reelay, e.g. npx reelay", default="")


def pytest_configure(config: pytest.Config) -> None:
    forced = os.environ.get("REELAY_MODE")
    if forced:
        print(f"reelay: REELAY_MODE={forced} overrides --record-mode", file=sys.stderr)


@pytest.fixture
def reelay_tape(request: pytest.FixtureRequest) -> Iterator[Callable[..., Tape]]:
    """Opens a tape of the test: ``reelay_tape("triage", live=["python", "server.py"])``."""
    tapes: list[Tape] = []
    request.node.stash[TAPES] = tapes  # a test that is run again begins anew

    def open_tape(name: str | None = None, **options: Any) -> Tape:
        tape = Tape(request.node, name, nth=len(tapes) + 1, **options)
        tapes.append(tape)
        return tape

    yield open_tape
    for tape in tapes:
        tape._finish(has_passed=False)  # does nothing if the test has run


TAPES = pytest.StashKey[list["Tape"]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Ends the tapes within the test, so that a difference is a failed test and not an error of a fixture."""
    try:
        result = yield
    except BaseException:
        texts = [text for tape in item.stash.get(TAPES, []) for text in tape._finish(has_passed=False)]
        if texts:
            item.add_report_section("call", "reelay", "\n\n".join(texts))
        raise
    texts = [text for tape in item.stash.get(TAPES, []) for text in tape._finish(has_passed=True)]
    if texts:
        pytest.fail("\n\n".join(texts), pytrace=False)
    return result


class Tape:
    """The tape of one test. It is recorded or replayed, and kept only if the test passes."""

    def __init__(
        self,
        item: pytest.Item,
        name: str | None,
        *,
        nth: int = 1,
        live: Sequence[str] | str | None = None,
        headers: Mapping[str, str] | None = None,
        server: str | None = None,
        faults: Sequence[Mapping[str, Any]] | None = None,
        overrides: Sequence[Mapping[str, Any]] | None = None,
        match: str | None = None,
        ignore: Sequence[str] = (),
        rules: Sequence[str] = (),
        request_order: Literal["recorded", "any"] = "recorded",
        drift: Literal["fail", "ignore"] = "fail",
    ) -> None:
        self.path = _tape_path(item, name, nth)
        self.mode = _choose_mode(item.config)
        self.is_recording = self.mode in ("rewrite", "all") or (self.mode != "none" and not self.path.exists())
        self._live = live
        self._headers = headers or {}
        self._is_strict = drift == "fail"
        self._is_ordered = request_order == "recorded"
        self._server = server
        self._matching = [
            *(["--match", match] if match else []),
            *(word for path in ignore for word in ("--ignore", path)),
            *(word for rule in rules for word in ("--rule", rule)),
        ]
        self._changes = {"faults": faults, "override": overrides}
        self._reelay = _reelay_command(item)
        self._folder = tempfile.TemporaryDirectory(prefix="reelay-pytest-")
        self._report = Path(self._folder.name, "report.jsonl")
        self._processes: list[subprocess.Popen[str]] = []
        self._was_played = False
        self._is_finished = False
        if self.mode == "none" and not self.path.exists():
            pytest.fail(
                f"there is no tape {self._shown()}, and nothing is recorded in this mode\n"
                "  hint: run the test locally once, where the server is, and commit the tape",
                pytrace=False,
            )
        if self.is_recording and live is None:
            pytest.fail(
                f"the tape {self._shown()} cannot be recorded: reelay_tape has no live server\n"
                '  hint: write reelay_tape("name", live=["python", "server.py"]), or live="https://…/mcp"',
                pytrace=False,
            )
        self._draft = Path(f"{self.path}.{os.getpid()}-{nth}.new")
        if self.is_recording or self.mode == "new-episodes":
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self.is_recording:
                shutil.copyfile(self.path, self._draft)

    def stdio(self) -> dict[str, Any]:
        """``command``, ``args`` and ``env`` of a server over stdio: ``StdioServerParameters(**tape.stdio())``."""
        words = self._words(is_over_http=False)
        return {"command": words[0], "args": words[1:], "env": self._environment()}

    def url(self) -> str:
        """A URL on this machine, for clients that connect over HTTP."""
        process = subprocess.Popen(
            self._words(is_over_http=True),
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._processes.append(process)
        said: list[str] = []
        for line in process.stdout or ():
            said.append(line)
            found = re.search(r"https?://(?:127\.0\.0\.1|localhost|\[::1\]):\d+/\S*", line)
            if found:
                return found[0]
        raise RuntimeError(f"reelay did not start:\n{''.join(said)}")

    def _words(self, *, is_over_http: bool) -> list[str]:
        live = [] if self._live is None else self._live_words(is_over_http)
        if self.is_recording:
            target = ["--", *live] if not is_over_http else live
            return [*self._reelay, "record", "--quiet", "--numbered", "-o", str(self._draft), *target]
        self._was_played = True
        is_learning = self.mode == "new-episodes" and self._live is not None
        changed: list[str] = []
        for option, content in self._changes.items():
            if content is not None:
                file = Path(self._folder.name, f"{option}.json")
                key = "overrides" if option == "override" else option
                file.write_text(json.dumps({key: list(content)}), encoding="utf-8")
                changed += [f"--{option}", str(file)]
        return [
            *self._reelay,
            "serve",
            str(self._draft if self.mode == "new-episodes" else self.path),
            *(["--http"] if is_over_http else []),
            *(["--server", self._server] if self._server else []),
            *self._matching,
            *changed,
            *(["--mode", "new-episodes"] if is_learning else []),
            *([] if not is_learning else live if is_over_http else ["--", *live]),
        ]

    def _live_words(self, is_over_http: bool) -> list[str]:
        if isinstance(self._live, str) != is_over_http:
            example = '"https://…/mcp"' if is_over_http else '["python", "server.py"]'
            method = "url" if is_over_http else "stdio"
            raise pytest.UsageError(f"tape.{method}() records a server of the form live={example}")
        if isinstance(self._live, str):
            headers = (word for key, value in self._headers.items() for word in ("--header", f"{key}: {value}"))
            return ["--url", self._live, *headers]
        return [str(word) for word in self._live or ()]

    def _environment(self) -> dict[str, str]:
        return {**os.environ, REPORT_VARIABLE: str(self._report)}

    def _finish(self, *, has_passed: bool) -> list[str]:
        """Keeps what was recorded if the test has passed. Returns how the test differs from its tape."""
        if self._is_finished:
            return []
        self._is_finished = True
        try:
            for process in self._processes:
                _stop(process)
            if self.is_recording:
                if has_passed:
                    self._keep_recording()
                return []
            differences = self._differences(has_passed)
            if self.mode == "new-episodes" and has_passed:
                os.replace(self._draft, self.path)
            return differences if self._is_strict else []
        finally:
            for draft in self._drafts():
                draft.unlink(missing_ok=True)
            self._folder.cleanup()

    def _drafts(self) -> list[Path]:
        """What was recorded: each start of the server writes a file of its own."""
        return sorted(self.path.parent.glob(f"{glob.escape(self._draft.name)}*"))

    def _keep_recording(self) -> None:
        drafts = self._drafts()
        if len(drafts) == 1:
            os.replace(drafts[0], self.path)
        elif drafts:
            merge = [*self._reelay, "merge", *map(str, drafts), "--overwrite", "-o", str(self.path)]
            done = subprocess.run(merge, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"the sessions of {self._shown()} could not be put together:\n{done.stderr}")

    def _differences(self, has_passed: bool) -> list[str]:
        lines = self._report.read_text(encoding="utf-8").splitlines() if self._report.exists() else []
        sessions = [json.loads(line) for line in lines]

        def texts(kind: str) -> list[str]:
            return [text for each in sessions for text in each.get("texts", {}).get(kind, [])]

        misses = [each["miss"] for each in sessions if "miss" in each]
        # A recorded exchange is unused if no session has sent it.
        ended = [each["texts"]["unused"] for each in sessions if "texts" in each]
        unused = [text for text in (ended[0] if ended else []) if has_passed and all(text in each for each in ended)]
        swapped = texts("outOfOrder") if has_passed and self._is_ordered else []
        answered = sum(each.get("answered", 0) for each in sessions)
        is_idle = has_passed and answered == 0 and not misses
        if not (misses or unused or swapped or is_idle):
            return []
        counted = f"{len(unused)} recorded exchange{'' if len(unused) == 1 else 's'} unused:"
        parts = [
            f"the test differs from its tape {self._shown()}",
            *misses,
            *([_listed(counted, unused)] if unused else []),
            *([_listed("sent in another order than recorded:", swapped)] if swapped else []),
            *(["nothing was answered from the tape: the client did not connect to it"] if is_idle else []),
            "to accept this, record it again: pytest --record-mode=rewrite",
        ]
        return ["\n\n".join(parts)]

    def _shown(self) -> str:
        try:
            return self.path.relative_to(Path.cwd()).as_posix()
        except ValueError:
            return str(self.path)


def _listed(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"  {line}" for line in lines)])


def _tape_path(item: pytest.Item, name: str | None, nth: int) -> Path:
    if name is not None and name.endswith(".tape.jsonl"):
        return item.path.parent / name
    folder = item.path.parent / "__tapes__"
    if name is not None:
        if not re.fullmatch(r"[\w][\w .-]*", name):
            raise pytest.UsageError(f"{name!r} cannot be the name of a tape: use letters, digits, - and _")
        return folder / f"{name}.tape.jsonl"
    own = item.nodeid.split("::", 1)[-1]
    plain = re.sub(r"[^\w-]+", "-", own).strip("-")[:LONGEST_NAME]
    # A hash keeps names apart that differ in other characters only, such as those of parametrized tests.
    unique = "" if plain == own else f"-{hashlib.sha256(own.encode()).hexdigest()[:6]}"
    return folder / item.path.stem / f"{plain}{unique}{'' if nth == 1 else f'-{nth}'}.tape.jsonl"


def _choose_mode(config: pytest.Config) -> str:
    mode = os.environ.get("REELAY_MODE") or config.getoption("--record-mode")
    if mode not in MODES:
        raise pytest.UsageError(f"REELAY_MODE={mode} is not a mode; use one of {', '.join(MODES)}")
    if mode != "auto":
        return mode
    return "none" if os.environ.get("CI", "") not in ("", "0", "false") else "once"


def _reelay_command(item: pytest.Item) -> list[str]:
    configured = item.config.getini("reelay_command")
    if configured:
        return shlex.split(configured)
    name = "reelay.cmd" if sys.platform == "win32" else "reelay"
    for folder in item.path.parents:
        found = folder / "node_modules" / ".bin" / name
        if found.exists():
            return [str(found)]
    on_path = shutil.which("reelay")
    if on_path is not None:
        return [on_path]
    raise pytest.UsageError("reelay was not found: put it on the PATH, install it in node_modules, or set reelay_command")


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
