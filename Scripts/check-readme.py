#!/usr/bin/env python3
"""Runs the console sessions of README.md and docs/*.md and compares what they print.

A session is a fenced block marked `console`. Each line that starts with `$ ` is a command of the
shell, the lines below it are what it prints on a terminal. The sessions of one document run in one
scratch folder, in order, with Maps and SampleData beside them, so a later one may use the database
of an earlier one. Blocks marked otherwise (`sh`, `yaml`, …) are not run.

In the comparison all durations and rates are one; a line `…` stands for any lines.

    check-readme.py [--tool PATH] [--update] [DOCUMENT…]

--tool    the dragoman to run (default: the release build, else the debug build)
--update  writes what the commands print into the documents
"""

import argparse
import difflib
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import fcntl
import termios
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MEASURE = re.compile(r"\d[\d.,]*( ?)(s|ms|µs|[kMG]?B/s|records/s|/s)(?![\w/])")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]")
COLUMNS = 120


def run(command: str, status: int, folder: Path, tool: Path) -> tuple[str, int]:
    """Runs one command on a terminal of its own; gives what stood there at the end, and the code."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    environment = {
        "PATH": f"{tool.parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "COLUMNS": str(COLUMNS),
    }
    if "LD_LIBRARY_PATH" in os.environ:
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    process = subprocess.Popen(
        ["bash", "-c", f"(exit {status})\n{command}"],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
    )
    os.close(follower)
    printed = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # Linux says EIO when the other end is closed
            break
        if not piece:
            break
        printed += piece
    os.close(leader)
    status = process.wait()
    lines = []
    for line in re.split(r"\r*\n", CONTROL.sub("", printed.decode())):
        lines.append(line.split("\r")[-1].rstrip())  # what a progress line leaves behind
    return "\n".join(lines).strip("\n"), status


def normal(line: str) -> str:
    """The line with measured figures made equal, and runs of spaces (columns) too."""
    return re.sub(r" +", " ", MEASURE.sub(r"N\1\2", line)).rstrip()


def same(expected: list[str], printed: list[str]) -> bool:
    """Whether the lines agree, where `…` stands for any lines."""
    if not expected:
        return not printed
    if expected[0].strip() == "…":
        return any(same(expected[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and expected[0] == printed[0] and same(expected[1:], printed[1:])


def sessions(block: str):
    """The commands of a block with the lines below each; a command goes on after a backslash."""
    command, expected = None, []
    for line in block.split("\n"):
        if command is not None and command.endswith("\\"):
            command += "\n" + line
        elif line.startswith("$ "):
            if command is not None:
                yield command, "\n".join(expected).strip("\n")
            command, expected = line[2:], []
        else:
            expected.append(line)
    if command is not None:
        yield command, "\n".join(expected).strip("\n")


def check(document: Path, tool: Path, update: bool) -> tuple[int, int]:
    """Runs a document's sessions; gives the numbers of commands that agree and that do not."""
    passed = failed = 0
    text = document.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="dragoman-readme-") as name:
        folder = Path(name)
        for part in ("Maps", "SampleData"):
            shutil.copytree(ROOT / part, folder / part)
        status = 0

        def replay(block: re.Match) -> str:
            nonlocal passed, failed, status
            written = []
            for command, expected in sessions(block.group(1)):
                other = command.split(" ", 1)[0]
                if other in ("sqlite3", "timeout") and not shutil.which(other):
                    print(f"{document.name}: there is no {other} to run: $ {command}")
                    written.extend(["$ " + command, *([expected] if expected else [])])
                    continue
                printed, status = run(command, status, folder, tool)
                wanted = [normal(line) for line in expected.split("\n")] if expected else []
                found = [normal(line) for line in printed.split("\n")] if printed else []
                agrees = same(wanted, found)
                written.append("$ " + command)
                kept = expected if agrees else printed
                written.extend([kept] if kept else [])
                if agrees:
                    passed += 1
                    continue
                failed += 1
                line = text.count("\n", 0, block.start()) + 2
                print(f"{os.path.relpath(document, ROOT)}:{line}: $ {command}")
                names = (str(document.name), "what it prints")
                for change in difflib.unified_diff(wanted, found, *names, lineterm=""):
                    print("    " + change)
            return "```console\n" + "\n".join(written) + "\n```"

        replayed = BLOCK.sub(replay, text)
    if update and replayed != text:
        document.write_text(replayed, encoding="utf-8")
        print(f"{os.path.relpath(document, ROOT)}: updated")
    return passed, failed


def find_tool() -> Path:
    for build in ("release", "debug"):
        tool = ROOT / ".build" / build / "dragoman"
        if tool.exists():
            return tool
    sys.exit("There is no dragoman to run: swift build --product dragoman")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("documents", nargs="*", type=Path)
    options = parser.parse_args()
    tool = (options.tool or find_tool()).resolve()
    documents = [path.resolve() for path in options.documents]
    documents = documents or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    results = [check(document, tool, options.update) for document in documents]
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} commands of the documents print what is written there, {failed} do not.")
    sys.exit(1 if failed and not options.update else 0)


if __name__ == "__main__":
    main()
