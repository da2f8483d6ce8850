#!/usr/bin/env python3
"""Fifty kills at random moments, of the program, of the recorder, of both: the moments are those of a fixed seed."""
import concurrent.futures
import os
import random
import shutil
import signal
import subprocess
import threading

import recorded
from contents import kernel_of_record, kernel_of_truth
from read_recording import read_folder

# What is older than this when the program is killed is in the file: the time between two flushes, and some for a
# machine that does other things too.
KEPT_NS = 600_000_000 if recorded.SLOW > 1 else 400_000_000
LONG_MS = 1000


def moments(count, seed, most_s=0.8):
    """Under a sanitizer, which takes its time, fewer."""
    source = random.Random(seed)
    count = count // 2 if recorded.SLOW > 1 else count
    return [source.uniform(0.0, most_s) for _ in range(count)]


class Killed(recorded.TestCase):
    found = 0  # kernels, in all files
    lock = threading.Lock()

    def one(self, seconds):
        """Kills one; the fault as text, or None."""
        raise NotImplementedError

    def kill_all(self, times):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            faults = [(at, fault) for at, fault in zip(times, pool.map(self.one, times)) if fault]
        self.assertEqual(faults, [])
        # A recording with nothing in it would agree with everything.
        self.assertGreater(self.found, 0)

    def compare(self, files, run):
        """Each file holds the beginning of what its process did, and what was not new when it ended."""
        for file in files:
            if file.kind != "process":
                continue
            name = os.path.join(run.truth_folder, f"truth-{file.pid}")
            truth = [t for t in run.truth(file.pid) if t.what == "kernel"] if os.path.exists(name) else []
            found = [kernel_of_record(r) for r in file.of("kernel")]
            with self.lock:
                self.found += len(found)
            expected = [kernel_of_truth(t) for t in truth]
            # The last line may be of a launch that was told to CUPTI but not written down.
            if found[:len(expected)] != expected[:len(found)] or len(found) > len(expected) + 1:
                return f"{len(found)} kernels are not the first of {len(expected)}"
            old = [t for t in truth if t.end < truth[-1].end - KEPT_NS]
            if len(found) < len(old):
                return f"{len(found)} kernels, but {len(old)} were older than {KEPT_NS} ns"
        return None


@recorded.needs_inject
class Program(Killed):
    def one(self, seconds):
        run = recorded.Run("loop", LONG_MS)
        try:
            run.start().kill_after(seconds)
            run.wait()
            if run.status != -signal.SIGKILL or run.stderr:
                return f"status {run.status}: {run.stderr}"
            return self.compare(run.files, run)
        finally:
            run.close()

    def test_killed(self):
        self.kill_all(moments(20, 1))


class Recorded(Killed):
    """Under `fullwarp record`."""

    def read(self, run):
        """As the tests read it, and as the report does."""
        if not os.path.isdir(run.folder):
            return None
        report = subprocess.run([recorded.RECORDER, "report", run.folder], capture_output=True, text=True, check=False)
        if report.returncode not in (0, 1) or report.returncode == 1 and not report.stderr:
            return f"the report ends with {report.returncode}: {report.stderr}"
        return self.compare(read_folder(run.folder), run)

    def start(self):
        program = recorded.Run("loop", LONG_MS, inject="")
        shutil.rmtree(program.folder)
        program.command = [recorded.RECORDER, "record", "-o", program.folder, "--", *program.command]
        program.env["FULLWARP_INJECT"] = recorded.INJECT
        return program.start(start_new_session=True)


@recorded.needs_recorder
class Recorder(Recorded):
    def one(self, seconds):
        run = self.start()
        try:
            run.kill_after(seconds)
            run.wait()  # until nobody holds its output: the program too has ended
            began = os.listdir(run.truth_folder)
            if began and run.stdout != f"looped {LONG_MS}\n":
                return f"the program said '{run.stdout}', {run.stderr}"
            return self.read(run)
        finally:
            run.close()

    def test_killed_alone(self):
        self.kill_all(moments(15, 2))


@recorded.needs_recorder
class Both(Recorded):
    def one(self, seconds):
        run = self.start()
        try:
            program = [int(name.split("-")[1]) for name in os.listdir(run.truth_folder)]
            run.kill_after(seconds)
            program = program or [int(name.split("-")[1]) for name in os.listdir(run.truth_folder)]
            for pid in program:
                run.kill_after(0, pid)
            run.wait()
            return self.read(run)
        finally:
            run.close()

    def test_killed_together(self):
        self.kill_all(moments(15, 3))


if __name__ == "__main__":
    recorded.main()
