"""nvtx.py PROGRAM LIBRARY: a program with NVIDIA's NVTX headers under the injected library, no GPU needed: its ranges are in
the recording, and it gets the answers that it gets without a tool."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import read_recording  # noqa: E402

PROGRAM, LIBRARY = sys.argv[1:3]
NVTX, MARK = 0, 6


class Nvtx(unittest.TestCase):
    def run_program(self, scenario, injected=True, folder=True):
        folder_path = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder_path)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("FULLWARP", "NVTX", "CUDA_INJ"))}
        if injected:
            env["NVTX_INJECTION64_PATH"] = LIBRARY
        if folder:
            env["FULLWARP_RECORD_DIR"] = folder_path
        done = subprocess.run([PROGRAM, scenario], env=env, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout, read_recording.read_folder(folder_path)

    def ranges(self, scenario):
        """The ranges of a scenario, whose answers are those without a tool."""
        out, files = self.run_program(scenario)
        self.assertEqual(out, self.run_program(scenario, injected=False)[0])
        self.assertEqual(len(files), 1)
        self.file = files[0]
        self.assertEqual((self.file.torn, self.file.of("loss"), len(self.file.info("ended"))), (0, [], 1))
        return self.file.of("range")

    def test_nested(self):
        marks = self.ranges("nested")
        self.assertEqual([(r.name, r.range_kind, r.domain) for r in marks],
                         [("inner \u4e2d", NVTX, None), ("a mark", MARK, None), ("wide mark", MARK, None),
                          ("outer", NVTX, None)])
        inner, mark, _, outer = marks
        self.assertEqual({r.tid for r in marks}, {self.file.pid})
        self.assertGreaterEqual(inner.end - inner.start, 20_000_000)
        self.assertGreaterEqual(outer.end - outer.start, 40_000_000)
        self.assertTrue(outer.start < inner.start < inner.end <= mark.start == mark.end <= outer.end)

    def test_attributes_domains_and_registered_strings(self):
        self.assertEqual([(r.name, r.range_kind, r.domain) for r in self.ranges("attributes")],
                         [("registered", MARK, "my domain"), ("registered", NVTX, "my domain"), ("pushed ex", NVTX, None),
                          ("", MARK, None)])

    def test_started_and_ended_elsewhere(self):
        a, b = sorted(self.ranges("started"), key=lambda r: r.name)
        self.assertEqual((a.name, b.name, a.tid), ("a", "b", self.file.pid))
        self.assertNotEqual(b.tid, a.tid)
        self.assertGreaterEqual(a.end - a.start, 20_000_000)

    def test_threads(self):
        marks = self.ranges("threads")
        self.assertEqual(sorted((name, sum(r.name == name for r in marks)) for name in {r.name for r in marks}),
                         [(f"thread {i}", 1000) for i in range(4)])
        self.assertEqual(len({r.tid for r in marks}), 4)
        named = {r.tid: r.name for r in self.file.of("thread") if (r.name or "").startswith("thread ")}
        self.assertEqual(sorted(named.values()), [f"thread {i}" for i in range(4)])
        self.assertTrue(all(named[r.tid] == r.name for r in marks))

    def test_several_instances_started_at_once(self):
        marks = self.ranges("instances")
        self.assertEqual(sorted(r.name for r in marks), ["first"] * 8 + ["second instance"] * 8)

    def test_a_fork_records_nothing_of_its_own(self):
        self.assertEqual([r.name for r in self.ranges("forked")], ["parent's"])

    def test_without_a_recording(self):
        for scenario in ("nested", "threads"):
            out, files = self.run_program(scenario, folder=False)
            self.assertEqual((out, files), (self.run_program(scenario, injected=False)[0], []))

    def test_cost(self):
        best = min(float(self.run_program("cost")[0]) for _ in range(3))
        print(f"a push and a pop: {best:.0f} ns")
        self.assertLess(best, 20000)  # a sanitizer's build on a busy machine; a release build needs some 150


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
