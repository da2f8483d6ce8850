#!/usr/bin/env python3
"""However a program ends, and whatever it starts, its result is its own and its kernels are in the recording."""
import resource
import unittest

import recorded
from contents import Contents, kernel_of_record, kernel_of_truth

COUNT = 200

# The search for leaks in a child says on stderr which threads of the parent it misses; the thread sanitizer ends a
# child of a process with threads that starts one itself.
QUIET = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "die_after_fork=0 halt_on_error=1 exitcode=66"}


@recorded.needs_inject
class Endings(Contents):
    def assert_kernels_of(self, file, count):
        self.assertEqual(len(file.of("kernel")), count)
        self.assertEqual(len({r.correlation for r in file.of("kernel")}), count)

    def end(self, how):
        run = self.run_program(how, COUNT)
        self.assert_unchanged(run, how, COUNT)
        self.assert_kernels_of(run.only(), COUNT)
        self.assert_kernels(run.only(), run.truth())
        return run

    def test_exit(self):
        run = self.end("exit")
        self.assertEqual(run.status, 3)
        self.assert_whole(run.only())

    def test_exit_without_handlers(self):
        self.assertEqual(self.end("_exit").status, 3)

    def test_abort(self):
        self.assertEqual(self.end("abort").status, -6)

    def test_kill(self):
        self.assertEqual(self.end("kill").status, -9)

    def test_exec(self):
        run = self.run_program("exec", COUNT)
        self.assert_unchanged(run, "exec", COUNT)
        self.assertEqual(len(run.processes), 2)
        self.assertEqual(len({file.pid for file in run.processes}), 1)
        for file in run.processes:
            self.assert_kernels_of(file, COUNT)

    def test_fork_after_cuda(self):
        run = self.run_program("forks", COUNT, env=QUIET)
        self.assert_unchanged(run, "forks", COUNT, env=QUIET)
        # One file of the parent; children that do not use CUDA have nothing to tell, and repeat nothing.
        files = [file for file in run.processes if file.of("kernel")]
        self.assertEqual(len(files), 1)
        truth = run.truth(files[0].pid)
        self.assertEqual([kernel_of_record(r) for r in files[0].of("kernel")],
                         [kernel_of_truth(t) for t in truth if t.what == "kernel"])
        self.assert_whole(files[0])

    def test_fork_before_cuda(self):
        run = self.run_program("forks-first", COUNT)
        self.assert_unchanged(run, "forks-first", COUNT)
        files = [file for file in run.processes if file.of("kernel")]
        self.assertEqual(len({file.pid for file in files}), 4)
        for file in files:
            self.assert_kernels_of(file, COUNT)
            self.assert_kernels(file, run.truth(file.pid))
            self.assert_whole(file)

    @recorded.needs_ranges
    def test_fork_between_ranges_and_cuda(self):
        run = self.run_program("ranges-forks", COUNT, env=QUIET)
        self.assert_unchanged(run, "ranges-forks", COUNT, env=QUIET)
        ranges = {}
        for file in run.processes:
            if file.of("kernel"):
                self.assert_kernels_of(file, COUNT)
                self.assert_kernels(file, run.truth(file.pid))
                self.assert_whole(file)
                ranges[file.pid] = [r.name for r in file.of("range")]
        self.assertEqual(sorted(map(tuple, ranges.values())), [("child 0",), ("child 1",), ("child 2",), ("parent",)])

    def test_a_program_that_closes_every_descriptor_and_moves_away(self):
        # Closing what another thread writes to is what the program does here; the thread sanitizer would say so.
        env = {"TSAN_OPTIONS": "report_bugs=0"}
        run = self.run_program("closes", COUNT, env=env)
        self.assert_unchanged(run, "closes", COUNT, env=env)
        self.assert_recorded(run)

    def test_signals_reach_the_programs_own_threads(self):
        run = self.run_program("signals", COUNT)
        self.assert_unchanged(run, "signals", COUNT)
        self.assertIn("signals came: 1, to other threads: 0", run.stdout)

    def test_a_program_that_takes_every_descriptor(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        run = self.prepare("descriptors", COUNT).run(preexec_fn=limit)
        self.assertEqual(run.result(), (0, f"launched {COUNT}\n" * 3 + "all descriptors taken\n", ""))
        self.assert_kernels_of(run.only(), 3 * COUNT)

    @unittest.skipIf(recorded.SLOW > 1, "a sanitizer needs all of the address space")
    def test_a_program_with_little_memory(self):
        for mib in 8, 12, 16, 24, 40, 64, 128:
            def limit(size=mib << 20):
                resource.setrlimit(resource.RLIMIT_AS, (size, size))
            with self.subTest(mib=mib):
                run = self.prepare("launch", COUNT).run(preexec_fn=limit)
                plain = self.prepare("launch", COUNT, inject="").run(preexec_fn=limit)
                self.assertEqual(run.result(), plain.result())

    def test_a_program_without_cuda(self):
        run = self.run_program("nothing")
        self.assert_unchanged(run, "nothing")
        self.assertEqual([file for file in run.files if file.of("kernel")], [])

    def test_errno_error_signals_and_folder_stay(self):
        run = self.run_program("state", COUNT)
        self.assert_unchanged(run, "state", COUNT)
        self.assertIn("errno changed 0 times, error 21,", run.stdout)


@recorded.needs_inject
class Profilers(Contents):
    """A program that profiles itself gets the profile that it gets without us."""

    def both(self, scenario, **settings):
        run = self.run_program(recorded.PROFILER, scenario, COUNT, **settings)
        plain = self.plain(recorded.PROFILER, scenario, COUNT)
        self.assertEqual(run.result(), plain.result())
        self.assertIn(f"own profile: {COUNT} kernels, {COUNT + 1} calls, 0 foreign", run.stdout)
        return run.only()

    def test_that_takes_over_without_a_word(self):
        file = self.both("profiles")
        # What came before is there; of what follows nobody tells us.
        self.assertGreaterEqual(len(file.of("kernel")), COUNT)

    def test_that_takes_over_is_noticed_at_the_end(self):
        run = self.run_program(recorded.PROFILER, "profiles", 4, script="kernel_ns 100000000\n")
        self.assertEqual((run.status, run.stderr), (0, ""))
        self.assertEqual([r.reason for r in run.only().of("loss")], ["other_profiler"])

    def test_that_is_handed_our_buffers(self):
        run = self.run_program(recorded.PROFILER, "profiles", COUNT, script="register mixed\n")
        self.assertEqual((run.status, run.stderr), (0, ""))
        run.only()

    def test_that_asks_first(self):
        file = self.both("yields")
        kernels = file.of("kernel")
        self.assertEqual(len(kernels), 2 * COUNT)
        losses = file.of("loss")
        self.assertEqual([r.reason for r in losses], ["other_profiler"])
        for kernel in kernels:
            start, error = file.to_mono(kernel.start)
            self.assertFalse(losses[0].start + error < start < losses[0].end - error, kernel)


if __name__ == "__main__":
    recorded.main()
