#!/usr/bin/env python3
"""Python programs that fork workers, on the stand-ins: with multiprocessing, and with PyTorch's DataLoader.

A sanitized library can be loaded into Python only behind the sanitizer's own run-time, which CMake names in
FW_PRELOAD; where there is none (clang; the thread sanitizer, which ends at a fork of a program with threads) these
tests are skipped, and those in C stand alone.
"""
import collections
import os
import shutil
import subprocess
import sys
import unittest

import recorded
from contents import Contents

HERE = os.path.dirname(os.path.abspath(__file__))
TRAIN = os.path.join(HERE, "train.py")
PRELOAD = os.environ.get("FW_PRELOAD", "")
CAN_PYTHON = PRELOAD or recorded.SLOW == 1
SYSTEM_PYTHON = "/usr/bin/python3"


def has_torch():
    return os.path.exists(SYSTEM_PYTHON) and subprocess.run([SYSTEM_PYTHON, "-c", "import torch.utils.data"],
                                                            capture_output=True, check=False).returncode == 0


class Python(Contents):
    python = sys.executable

    def prepare(self, *arguments, **settings):
        run = super().prepare(os.path.realpath(self.python), "-B", TRAIN, *arguments, **settings)
        if PRELOAD:
            run.env.update(LD_PRELOAD=PRELOAD, ASAN_OPTIONS="detect_leaks=0")
        return run

    def check_run(self, feed, count, end="return"):
        run = self.run_program(feed, count, end)
        self.assertEqual(run.result(), self.plain(feed, count, end).result())
        files = [file for file in run.processes if file.of("kernel")]
        self.assertEqual(len(files), 1, "only the parent uses the GPU")
        file = files[0]
        truth = run.truth(file.pid)
        self.assert_kernels(file, truth)
        self.assert_copies(file, truth)
        self.assertEqual(collections.Counter(k.name for k in file.of("kernel")),
                         {"_Z7forwardPf": count, "_Z8backwardPf": count, "_Z4stepPf": count})
        self.assertEqual(sum(c.bytes for c in file.of("copy")), 2 * 1024 * count)
        return run, file


@recorded.needs_inject
@unittest.skipUnless(CAN_PYTHON, "Python cannot load a library with this sanitizer")
class Multiprocessing(Python):
    def test_workers_of_a_pool(self):
        run, file = self.check_run("pool", 200)
        self.assertEqual(run.status, 0)
        self.assert_whole(file)

    def test_that_ends_without_handlers(self):
        run, _ = self.check_run("pool", 100, "_exit")
        self.assertEqual(run.status, 7)

    def test_that_ends_by_an_exception(self):
        run, file = self.check_run("pool", 50, "raise")
        self.assertEqual(run.status, 1)
        self.assert_whole(file)


@recorded.needs_inject
@unittest.skipUnless(CAN_PYTHON, "Python cannot load a library with this sanitizer")
@unittest.skipUnless(has_torch(), f"{SYSTEM_PYTHON} has no PyTorch (python3-torch)")
class DataLoader(Python):
    python = SYSTEM_PYTHON

    def test_workers_of_a_loader(self):
        _, file = self.check_run("loader", 100)
        self.assert_whole(file)

    @unittest.skipUnless(recorded.RECORDER, "the recorder was not built")
    def test_under_the_recorder(self):
        run = self.prepare("loader", 60, inject="")
        plain = self.plain("loader", 60).result()
        shutil.rmtree(run.folder)
        run.env["FULLWARP_INJECT"] = recorded.INJECT
        preload = run.env.pop("LD_PRELOAD", None)
        program = run.command if not preload else ["env", f"LD_PRELOAD={preload}", *run.command]
        run.command = [recorded.RECORDER, "record", "-o", run.folder, "--", *program]
        run.run()
        self.assertEqual((run.status, run.stdout), plain[:2], run.stderr)
        files = [file for file in run.processes if file.of("kernel")]
        self.assertEqual([len(file.of("kernel")) for file in files], [180])
        loaders = [r for file in run.files if file.kind == "python" for r in file.of("loader")]
        if any(file.kind == "python" for file in run.files):
            self.assertEqual([(r.workers, r.batch) for r in loaders], [(2, 1)])


if __name__ == "__main__":
    recorded.main()
