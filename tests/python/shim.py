"""Runs programs under the Python shim as the recorder would, and reads what it wrote."""
import collections
import glob
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import read_recording

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
SHIM = str(SOURCE / "python")
INPUT, STEP, OPTIMIZER, COMPILE, CALL_SITE = 1, 2, 3, 4, 5

Range = collections.namedtuple("Range", "kind start end name tid")
Loader = collections.namedtuple("Loader", "number time workers prefetch batch pin_memory persistent")
Loss = collections.namedtuple("Loss", "reason start end count")


class File(read_recording.File):
    """A python-<pid>-<n>.fwr; `torn` says how many bytes at its end are no whole chunk."""

    def __init__(self, path):
        super().__init__(path)
        assert self.kind == "python"
        self.ranges = [Range(r.range_kind, r.start, r.end, r.name, r.tid) for r in self.of("range")]
        assert all(r.end >= r.start for r in self.ranges)
        self.loaders = [Loader(r.loader, r.time, r.workers, r.prefetch, r.batch, r.pin_memory, r.persistent)
                        for r in self.of("loader")]
        self.losses = [Loss(r.reason, r.start, r.end, r["count"]) for r in self.of("loss")]

    def marks(self, kind):
        return [r for r in self.ranges if r.kind == kind]

    def waits(self):
        return [r for r in self.ranges if r.name.endswith(".__next__")]

    def facts(self, key):
        return [(r.text or "", r.value) for r in self.info(key)]


class Run:
    """What a program printed, its status, and the files of its recording."""

    def __init__(self, done, folder, pid="*"):
        self.stdout, self.stderr, self.status = done.stdout, done.stderr, done.returncode
        self.files = [File(p) for p in sorted(glob.glob(os.path.join(folder, f"python-{pid}-*.fwr")))]

    @property
    def file(self):
        assert len(self.files) == 1, [f.path for f in self.files]
        return self.files[0]


def environment(**extra):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "FULLWARP", "LD_PRELOAD"))}
    kept.update(PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", **extra)
    return kept


def interpreters(oldest=(0,)):
    """One Python of each version found here."""
    found = {}
    for path in [sys.executable, shutil.which("python3"), "/usr/bin/python3", shutil.which("python2"),
                 *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python"))]:
        if not path:
            continue
        said = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True,
                              check=False)
        if said.returncode == 0:
            found.setdefault(tuple(map(int, said.stdout.split())), path)
    return [path for version, path in sorted(found.items()) if version >= oldest]


def torch_python():
    """A Python that has PyTorch, or None; FW_TORCH_PYTHON names one."""
    for path in [os.environ.get("FW_TORCH_PYTHON"), "/usr/bin/python3", sys.executable]:
        if path and os.path.exists(path):
            said = subprocess.run([path, "-c", "import torch"], capture_output=True, check=False, env=environment())
            if said.returncode == 0:
                return path
    return None


# Imports PyTorch once, which takes a second, and runs each program in a child made by fork. A child has the state of a
# process that has only just imported it, and a file of its own.
FORKING = """
import os, runpy, sys, torch
while words := sys.stdin.readline().split():
    path = words[0]
    pid = os.fork()
    if pid == 0:
        for fd, name in (1, 'stdout'), (2, 'stderr'):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), fd)
        sys.argv, sys.path[0] = words, os.path.dirname(path)
        runpy.run_path(path, run_name='__main__')
        sys.exit()
    print(pid, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Forking:
    """Programs, under the shim or without it, that share one import of PyTorch."""

    def __init__(self, python, is_watched):
        self.folder = tempfile.mkdtemp()
        env = environment(**(dict(PYTHONPATH=SHIM, FULLWARP_RECORD_DIR=self.folder) if is_watched else {}))
        self.process = subprocess.Popen([python, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=env, cwd=self.folder)

    def run(self, path, *arguments):
        self.process.stdin.write(" ".join([str(path), *arguments]) + "\n")
        self.process.stdin.flush()
        pid, status = map(int, self.process.stdout.readline().split())
        out, err = (pathlib.Path(self.folder, name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
        return Run(subprocess.CompletedProcess(path, status, out, err), self.folder, pid)

    def close(self):
        self.process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)


class ShimCase(unittest.TestCase):
    """A folder for the recording and one for the program."""
    python = sys.executable

    def setUp(self):
        self.scratch = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.folder = os.path.join(self.scratch, "recording")
        os.mkdir(self.folder)

    def write(self, name, text):
        path = os.path.join(self.scratch, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pathlib.Path(path).write_text(text, encoding="utf-8")
        return path

    def control(self, wanted):
        path = os.path.join(self.folder, "control")
        if not os.path.exists(path):
            pathlib.Path(path).write_bytes(struct.pack("<IIIi", 0x4C544346, 1, wanted, 1).ljust(4096, b"\0"))
        with open(path, "r+b") as file:
            file.seek(8)
            file.write(struct.pack("<I", wanted))

    def start(self, arguments, python=None, folder=None, options="", path=(), **extra):
        env = environment(PYTHONPATH=os.pathsep.join([SHIM, *path]), FULLWARP_RECORD_DIR=folder or self.folder, **extra)
        if options:
            env["FULLWARP_RECORD_OPTIONS"] = options
        return subprocess.Popen([python or self.python, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=env, cwd=self.scratch)

    def run_shim(self, arguments, timeout=100, **how):
        process = self.start(arguments, **how)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            raise
        return Run(subprocess.CompletedProcess(arguments, process.returncode, out, err), self.folder)

    def run_plain(self, arguments, python=None, path=(), **extra):
        env = environment(**extra)
        if path:
            env["PYTHONPATH"] = os.pathsep.join(path)
        return subprocess.run([python or self.python, *arguments], capture_output=True, text=True, env=env,
                              cwd=self.scratch, check=False, timeout=100)

    def in_time(self, check, attempts=4):
        """What holds within a limit of time, on a machine that may be busy: once is enough."""
        for left in reversed(range(attempts)):
            try:
                return check()
            except AssertionError:
                if not left:
                    raise
                for name in os.listdir(self.folder):
                    os.unlink(os.path.join(self.folder, name))

    def assert_same(self, run, plain, message=None):
        self.assertEqual((run.stdout, run.stderr, run.status), (plain.stdout, plain.stderr, plain.returncode), message)


def main(needs_torch):
    """Exit code 77: skipped."""
    if needs_torch:
        ShimCase.python = torch_python()
        if not ShimCase.python:
            print("skipped: no Python with PyTorch (python3-torch) is installed; FW_TORCH_PYTHON names one")
            sys.exit(77)
    unittest.main(verbosity=2)
