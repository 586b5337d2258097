"""Many small cases: in several processes at once, in memory, by a tool that is started once.

What is tried so is what the tool makes of its input: nothing here is a matter of disks, of starts or of signals. One process begins
all the cases of a job, one after the other: nothing of one may be in the way of the next.
"""

import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from harness import Outcome, Tally, has

MEMORY = Path("/dev/shm")
ROOM = 2 << 30  # more than cases leave behind
# How often one process begins: a main that is left by `exit` frees nothing, some kilobytes each time, and limits of memory are looked at.
BEGINNINGS = 5000


def spread(torture, prepare, short, long):
    """Tries cases in `--jobs` processes; `prepare` makes, in each of them, the function that is called with a case's number.

    A case draws from `torture.drawn(number)`, so that it is the same however many processes there are.
    """
    count = torture.times(short, long)
    end = None if torture.minutes is None else time.monotonic() + torture.minutes * 60
    is_roomy = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM
    with tempfile.TemporaryDirectory(prefix="dragoman-torture-", dir=MEMORY if is_roomy else None) as place:
        library = compiled(Path(place))
        with ProcessPoolExecutor(torture.jobs, mp_context=get_context("fork")) as pool:
            shares = [pool.submit(share, torture, prepare, range(job, count, torture.jobs), end, Path(place) / f"job{job}", library) for job in range(torture.jobs)]
            tallies = [one.result() for one in shares]
    for tally in tallies:
        torture.tally.tried += tally.tried
        torture.tally.failures += tally.failures
        torture.tally.cases += tally.cases


def share(torture, prepare, numbers, end, root, library):
    """What one of the processes tries, and how it went."""
    root.mkdir()
    torture.root = root
    torture.tally = Tally(torture.tally.name, torture.tally.promise)
    torture.prepared = Prepared(torture.tool, root, library) if library else None
    case = prepare(torture)
    for number in numbers:
        if end is not None and time.monotonic() > end:
            break
        case(number)
        torture.tally.cases += 1
    if torture.prepared:
        torture.prepared.close()
    return torture.tally


def compiled(folder):
    """The libraries of prepared.c; None where there are no compilers, or nothing is loaded before a program (LD_PRELOAD is Linux's)."""
    if sys.platform != "linux" or not has("cc") or not has("swiftc"):
        return None
    main, arguments = folder / "libprepared.so", folder / "libarguments.so"
    here = Path(__file__).parent
    # What it sets is not to be set in programs: here it is.
    swift = ["swiftc", "-suppress-warnings", "-swift-version", "5", "-parse-as-library", "-emit-library", "-o", arguments, here / "arguments.swift"]
    for command in (["cc", "-shared", "-fPIC", "-O1", "-o", main, here / "prepared.c"], swift):
        if subprocess.run(command, check=False).returncode != 0:
            return None
    return f"{main} {arguments}"


class Prepared:
    """A tool that begins again and again in one process: see prepared.c."""

    def __init__(self, tool, folder, libraries):
        self.tool, self.folder, self.libraries = tool, folder, libraries
        self.process = None
        self.begun = 0

    def start(self):
        self.socket, other = socket.socketpair()
        # What it inherits stands at 3, wherever it stands here.
        self.process = subprocess.Popen(
            [self.tool], env={**os.environ, "LD_PRELOAD": self.libraries, "TORTURE_PREPARED": "1"},
            close_fds=False, preexec_fn=lambda: os.dup2(other.fileno(), 3), start_new_session=True,
        )
        other.close()

    def run(self, arguments, timeout):
        if self.begun == BEGINNINGS:
            self.close()
        if self.process is None:
            self.start()
            self.begun = 0
        self.begun += 1
        out, err = self.folder / "stdout", self.folder / "stderr"
        asked = b"".join(os.fsencode(str(one)) + b"\0" for one in (self.folder, out, err, *arguments))
        began = time.monotonic()
        self.socket.sendall(struct.pack("=I", len(asked)) + asked)
        is_late = not select.select([self.socket], [], [], timeout)[0]
        if is_late:
            os.killpg(self.process.pid, signal.SIGKILL)
        answer = self.socket.recv(16, socket.MSG_WAITALL)
        code, peak = struct.unpack("=qq", answer) if len(answer) == 16 else (self.close(), 0)
        return Outcome(code, out.read_bytes(), err.read_bytes(), time.monotonic() - began, peak * 1024, is_late)

    def close(self):
        """Ends the process, if it has not ended by itself: how it did."""
        if self.process is None:
            return 0
        self.socket.close()
        code, self.process = self.process.wait(), None
        return code
