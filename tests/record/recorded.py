"""Runs the programs of this folder on the stand-ins, with and without the recorder, and reads what came of it.

Environment, set by CMake: FW_PROGRAM, FW_PROGRAM12, FW_PROFILER, FW_FLOOR, FW_INJECT (files; empty: not built), FW_RECORDER
(the command fullwarp; empty: not built), FW_SELF (folder of record_self_*), FW_FAKE (folder of the stand-ins), FW_PRELOAD
(for programs that are not ours).
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import read_recording  # noqa: E402

PROGRAM = os.environ["FW_PROGRAM"]
PROGRAM12 = os.environ["FW_PROGRAM12"]  # with the runtime of CUDA 12
PROFILER = os.environ["FW_PROFILER"]
SELF = os.environ["FW_SELF"]  # folder of the programs record_self_*
FLOOR = os.environ["FW_FLOOR"]
INJECT = os.environ.get("FW_INJECT", "")
RECORDER = os.environ.get("FW_RECORDER", "")
FAKE = os.environ["FW_FAKE"]

# A sanitizer makes everything up to ten times slower.
SLOW = 4 if os.environ.get("FW_SANITIZE") else 1


def exports(library, symbol):
    """Whether a library has that symbol, by its name among the strings."""
    if not library:
        return False
    with open(library, "rb") as file:
        return symbol in file.read()


needs_inject = unittest.skipUnless(INJECT, "the injected library was not built")
needs_ranges = unittest.skipUnless(exports(INJECT, b"InitializeInjectionNvtx2"), "the library takes no NVTX ranges")
needs_recorder = unittest.skipUnless(INJECT and RECORDER, "the recorder was not built")


class Run:
    """A program with its surroundings: start it, wait for it, read the recording and the truth."""

    def __init__(self, *command, script="", inject=INJECT, cupti=13, options=None, folder=None, env=None, nvtx=True):
        self.temporary = tempfile.mkdtemp(prefix="fullwarp-record-")
        self.folder = folder or os.path.join(self.temporary, "recording")
        self.truth_folder = os.path.join(self.temporary, "truth")
        os.mkdir(self.truth_folder)
        if not folder:
            os.mkdir(self.folder)
        script_file = os.path.join(self.temporary, "script")
        with open(script_file, "w") as file:
            file.write(script)
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("CUDA_INJ", "NVTX_INJ", "FULLWARP_", "RANK", "OMPI"))}
        # The name of a report's file says which process it is of; programs that abort on purpose are no reports.
        # A child of a program with threads may start our writer: the sanitizer only warns that it cannot follow.
        self.env.setdefault("TSAN_OPTIONS", "halt_on_error=1 exitcode=66 die_after_fork=0")
        self.env.update(LD_LIBRARY_PATH=os.path.join(FAKE, f"cupti{cupti}") + ":" + FAKE, FW_FAKE_CUDA=script_file,
                        FW_FAKE_TRUTH=self.truth_folder)
        if inject:
            self.env["CUDA_INJECTION64_PATH"] = inject
            if nvtx:
                self.env["NVTX_INJECTION64_PATH"] = inject
            self.env["FULLWARP_RECORD_DIR"] = self.folder
            self.env["FULLWARP_RECORD_OPTIONS"] = ";".join(filter(None, ("syncs=1", options)))
        self.env.update(env or {})
        self.command = list(map(str, command))
        if not os.path.isabs(self.command[0]):
            self.command.insert(0, PROGRAM12 if cupti == 12 else PROGRAM)
        self.process = None
        self.stdout = self.stderr = ""
        self.status = None
        self._files = None

    def start(self, **more):
        self.process = subprocess.Popen(self.command, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, **more)
        return self

    def wait(self, timeout=60):
        try:
            self.stdout, self.stderr = self.process.communicate(timeout=timeout * SLOW)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            self.stdout, self.stderr = self.process.communicate()
            raise AssertionError(f"{self.command} hangs: {self.stdout}{self.stderr}") from None
        self.status = self.process.returncode
        return self

    def run(self, **more):
        return self.start(**more).wait()

    def kill_after(self, seconds, pid=None):
        time.sleep(seconds)
        try:
            os.kill(pid or self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    @property
    def files(self):
        if self._files is None:
            self._files = read_recording.read_folder(self.folder)
        return self._files

    @property
    def processes(self):
        return [file for file in self.files if file.kind == "process"]

    def only(self):
        """The file of the one process that there was."""
        files = self.processes
        if len(files) != 1:
            raise AssertionError(f"{len(files)} files in {os.listdir(self.folder)}: {self.stderr}")
        return files[0]

    def truth(self, pid=None):
        """What the stand-ins did, of one process or of the only one."""
        names = os.listdir(self.truth_folder)
        name = f"truth-{pid}" if pid else names[0]
        if not pid and len(names) != 1:
            raise AssertionError(f"the truth of {len(names)} processes")
        with open(os.path.join(self.truth_folder, name)) as file:
            return [read_recording.Record(json.loads(line)) for line in file if line.endswith("\n")]

    def result(self):
        return self.status, self.stdout, self.stderr

    def close(self):
        for root, folders, _ in os.walk(self.temporary):
            for name in folders:
                os.chmod(os.path.join(root, name), 0o700)
        shutil.rmtree(self.temporary, ignore_errors=True)


class TestCase(unittest.TestCase):
    """Runs are cleaned up; a failure shows what the program said."""
    maxDiff = 2000

    def run_program(self, *command, **settings):
        run = self.prepare(*command, **settings)
        run.run()
        return run

    def prepare(self, *command, **settings):
        run = Run(*command, **settings)
        self.addCleanup(run.close)
        return run

    def plain(self, *command, **settings):
        """The same program without us."""
        return self.run_program(*command, inject="", **settings)

    def assert_ok(self, run):
        self.assertEqual((run.status, run.stderr), (0, ""), run.stdout)

    def in_time(self, check, attempts=4):
        """What holds within a limit of time, on a machine that may be busy: once is enough."""
        for left in reversed(range(attempts)):
            try:
                return check()
            except AssertionError:
                if not left:
                    raise

    def assert_unchanged(self, run, *command, **settings):
        """What the program did is what it does without us."""
        self.assertEqual(run.result(), self.plain(*command, **settings).result())


def main():
    """0: all passed; 77: all were skipped; 1."""
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun and len(result.skipped) == result.testsRun else 0)
