#!/usr/bin/env python3
"""Programs that profile themselves through CUPTI get the trace that they get without us, whichever way they call it; what
lies outside their sessions is recorded, and the sessions are marked.

The programs rest between their sessions, so that all run at once.
"""
import concurrent.futures
import os
import re

import recorded

COUNT = 150
WORK = "kernel_ns 100\n"
AT_ONCE = 12

# How the program's calls get to CUPTI, scenario: how often it launches COUNT kernels outside its sessions, and how many of
# those there are. A change to the subscriber is a session of a moment. The last ends with the program.
CASES = {
    ("now", "after"): (2, 1),
    ("now", "before"): (0, 1),  # we cannot know what it had switched on
    ("now", "twice"): (3, 2),
    ("now", "callbacks"): (2, 2),
    ("now", "callbacks-before"): (2, 1),
    ("now", "finalize"): (3, 3),
    ("now", "settings"): (3, 2),
    ("lazy", "before"): (0, 1),
    ("lazy", "twice"): (3, 2),
    ("dlopen", "before"): (0, 1),
    ("dlopen", "twice"): (3, 2),
    ("dlopen", "callbacks"): (2, 2),
}
# Other CUPTIs, other ways to hand over buffers.
SCRIPTS = ("version 12.8\n", "register mixed\n", "deliver caller\nbuffer_records 7\n", "late_ms 40\norder reverse\n",
           "kernel_ns 1000000\n")
ORDER = re.compile(r"\([0-9a-f]{16}\)")


@recorded.needs_inject
class SelfProfile(recorded.TestCase):
    def pair(self, way, scenario, script, options=None):
        """The run with us and the one without."""
        command = os.path.join(recorded.SELF, f"record_self_{way}"), scenario, COUNT
        return self.prepare(*command, script=script, options=options), self.prepare(*command, script=script, inject="")

    def run_pairs(self, cases):
        pairs = {case: self.pair(*case) for case in cases}
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda run: run.run(), [run for pair in pairs.values() for run in pair]))
        return pairs.items()

    def assert_marked(self, file, sessions):
        losses = file.of("loss")
        self.assertEqual([loss.reason for loss in losses], ["other_profiler"] * sessions)
        for kernel in file.of("kernel"):
            start, error = file.to_mono(kernel.start)
            for loss in losses:
                self.assertFalse(loss.start + error < start < loss.end - error, kernel)

    def test_trace_is_the_programs_own_and_the_recording_goes_on(self):
        for (way, scenario, _), (ours, plain) in self.run_pairs((*case, WORK) for case in CASES):
            with self.subTest(way=way, scenario=scenario):
                self.assertEqual((plain.status, plain.stderr), (0, ""))
                self.assertEqual(ours.result(), plain.result())
                works, sessions = CASES[way, scenario]
                self.assertEqual(len(ours.only().of("kernel")), works * COUNT)
                self.assert_marked(ours.only(), sessions)

    def test_whatever_cupti_does_with_buffers(self):
        for (_, _, script), (ours, plain) in self.run_pairs(("now", "twice", script) for script in SCRIPTS):
            with self.subTest(script=script):
                self.assertEqual((ours.status, plain.status), (0, 0))
                # In which order it hands them over is then a matter of chance.
                self.assertEqual(ORDER.sub("", ours.stdout), ORDER.sub("", plain.stdout))
                self.assertEqual(len(ours.only().of("kernel")), 3 * COUNT)

    def test_options(self):
        cases = ("now", "callbacks", WORK, "range=cuda-profiler"), ("now", "twice", WORK, "inject_without=hooks")
        (_, (ranged, plain)), (_, (unseen, other)) = self.run_pairs(cases)
        self.assertEqual(ranged.result(), plain.result())
        self.assertIn("subscribed to CUPTI's callbacks", " ".join(r.text for r in ranged.only().info("cannot")))
        # Without us in between the trace is another; else the other tests would show nothing.
        self.assertNotEqual(unseen.result(), other.result())


if __name__ == "__main__":
    recorded.main()
