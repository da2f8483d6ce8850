#!/usr/bin/env python3
"""What recording costs a launch on the stand-ins, against a client that throws the same records away.

The figures say nothing of a GPU. The bound is wide, so that a busy machine does not trip over it: what it catches is a
lock, an allocation or a system call that has found its way into the path of a launch.
"""
import statistics
import sys
import unittest

import recorded

LAUNCHES = 200000
PAIRS = 5
MOST = 2.0  # times the floor's
# 128 buffers of 256 KiB for CUPTI (src/inject/options.c), and as much again for all else.
MEMORY_KIB = 2 * 128 * 256
# Runs a command; says the peak of its resident memory in KiB.
PEAK = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


@recorded.needs_inject
@unittest.skipIf(recorded.SLOW > 1, "a sanitizer's cost would be measured")
class Cost(recorded.TestCase):
    def one(self, inject):
        # Kernels of no length, so that the timeline stays close to the clock.
        run = self.prepare("timed", LAUNCHES, inject=inject, script="kernel_ns 1\n", nvtx=False,
                           env={"FW_FLOOR_MODE": "calls"})
        del run.env["FW_FAKE_TRUTH"]
        run.run()
        self.assertEqual(run.status, 0, run.stderr)
        return float(run.stdout.split("\n")[1].split()[0])

    def test_of_a_launch(self):
        pairs = [(self.one(recorded.FLOOR), self.one(recorded.INJECT)) for _ in range(PAIRS)]
        floor, ours = statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)
        ratio = statistics.median(p[1] / p[0] for p in pairs)
        print(f"a launch on the stand-ins: {floor:.0f} ns with the floor, {ours:.0f} ns recorded; ratio {ratio:.2f}")
        self.assertLess(ratio, MOST, pairs)

    def test_of_memory(self):
        """However long a program runs, it has no more of ours than buffers of a fixed number and size."""
        peaks = []
        for inject in "", recorded.INJECT:
            run = self.prepare("launch", 1500000, script="kernel_ns 1\n", nvtx=False, inject=inject)
            del run.env["FW_FAKE_TRUTH"]
            run.command = [sys.executable, "-c", PEAK, *run.command]
            run.run()
            self.assertEqual(run.status, 0, run.stderr)
            peaks.append(int(run.stderr))
        # 1.5 million launches make 216 MB of a recording.
        self.assertLess(peaks[1] - peaks[0], MEMORY_KIB, peaks)


if __name__ == "__main__":
    recorded.main()
