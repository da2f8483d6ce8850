"""examples/pytorch on the CPU: each program runs and prints what it says; consecutive ones differ by their lesson alone."""
import difflib
import json
import os
import subprocess
import sys
import tempfile
import unittest

import shim

FOLDER = shim.SOURCE / "examples" / "pytorch"
SMALL = ["--device", "cpu", "--small-net", "--image", "32", "--warmup", "1", "--workers", "1"]
PYTHON = shim.torch_python()


def programs(word):
    return sorted(p for p in FOLDER.glob(f"{word}_*.py"))


def run(program, *options, status=0):
    done = subprocess.run([PYTHON, str(program), *options], capture_output=True, text=True, env=shim.environment(),
                          cwd=tempfile.gettempdir(), timeout=300, check=False)
    assert done.returncode == status, done.stderr
    return done


def compiles():
    return subprocess.run([PYTHON, "-c", "import torch; torch.compile"], capture_output=True, check=False,
                          env=shim.environment()).returncode == 0


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.forking = shim.Forking(PYTHON, False)

    @classmethod
    def tearDownClass(cls):
        cls.forking.close()

    def run_forked(self, program, *options):
        done = self.forking.run(program, *options)
        self.assertEqual(done.status, 0, done.stderr)
        return done

    def check(self, program):
        lines = self.run_forked(program, *SMALL, "--batches", "3", "--batch-size", "2").stdout.splitlines()
        self.assertEqual(len(lines), 1)
        said = json.loads(lines[0])
        self.assertEqual((said["program"], said["device"], said["batches"], said["batch_size"]),
                         (program.stem, "cpu", 3, 2))
        self.assertGreater(said["seconds_per_batch"], 0)

    def test_loops(self):
        for program in programs("classify") + programs("train"):
            if "compiled" not in program.stem:
                self.check(program)

    @unittest.skipUnless(PYTHON and compiles(), "this PyTorch has no torch.compile")
    def test_compiled_loops(self):
        for program in programs("classify") + programs("train"):
            if "compiled" in program.stem:
                self.check(program)

    def test_each_changes_one_thing(self):
        for word, count in (("classify", 8), ("train", 2)):
            files = programs(word)
            self.assertEqual([int(p.stem.split("_")[1]) for p in files], list(range(1, count + 1)))
            for before, after in zip(files, files[1:]):
                old, new = (p.read_text(encoding="utf-8").splitlines()[1:] for p in (before, after))
                changed = [line for line in difflib.unified_diff(old, new, n=0) if line[:1] in "+-"][2:]
                self.assertLessEqual(len(changed), 30, after)
                compile(after.read_text(encoding="utf-8"), str(after), "exec")

    def test_memory_that_grows_in_the_workers(self):
        grown = {}
        for options in ((), ("--corrected",)):
            said = json.loads(self.run_forked(FOLDER / "grow_2_python_list.py", "--device", "cpu", "--workers", "6",
                                              "--seconds", "4", "--warmup", "1", *options).stdout)
            private = [sample["children_private_mb"] for sample in said["host_memory"]]
            grown[options] = max(private) - private[0]
        # Six workers read a string, and so copy its page, every 2 ms: 4 KB x 6 x 2,000 in 4 s; a slow machine fewer.
        print(f"private memory grew by {grown[()]} MB, corrected by {grown[('--corrected',)]} MB")
        self.assertGreater(grown[()], 10)
        self.assertLess(grown[("--corrected",)], grown[()] / 2)

    def test_memory_that_grows_with_the_batches(self):
        # Nothing is page-locked on a CPU: that it runs, and that the batches get larger.
        for options in ((), ("--corrected",)):
            said = json.loads(self.run_forked(FOLDER / "grow_1_varying_batches.py", "--device", "cpu", "--workers", "1",
                                              "--seconds", "2", "--batch-size", "4", "--warmup", "1", *options).stdout)
            self.assertGreaterEqual(len(said["host_memory"]), 2)
            self.assertGreater(said["batches"], 0)

    def test_without_a_gpu_it_says_so(self):
        self.assertIn("no CUDA device", run(FOLDER / "train_1_eager.py", status=2).stderr)


if __name__ == "__main__":
    if not PYTHON:
        print("skipped: no Python with PyTorch (python3-torch) is installed; FW_TORCH_PYTHON names one")
        sys.exit(77)
    if not os.environ.get("CUDA_VISIBLE_DEVICES"):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    unittest.main(verbosity=2)
