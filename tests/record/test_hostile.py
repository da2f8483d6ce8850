#!/usr/bin/env python3
"""CUPTI at its worst: other versions, late, few, foreign and failing buffers, clocks that run differently."""
import collections
import random
import time

import recorded
from contents import Contents, kernel_of_record, kernel_of_truth

COUNT = 2000

# Every function that the injected library may call.
FUNCTIONS = ["cuptiGetVersion", "cuptiGetTimestamp", "cuptiActivityRegisterCallbacks", "cuptiActivityEnable",
             "cuptiActivityEnableAndDump", "cuptiActivityDisable", "cuptiActivityEnableRuntimeApi",
             "cuptiActivityEnableDriverApi", "cuptiActivityEnableAllSyncRecords", "cuptiActivityFlushAll",
             "cuptiActivityFlushPeriod", "cuptiActivityGetNextRecord", "cuptiActivityGetNumDroppedRecords",
             "cuptiGetCallbackName", "cuptiSetThreadIdType", "cuptiSubscribe", "cuptiEnableCallback",
             "cuptiActivityRegisterTimestampCallback"]
NOT_PERMITTED = 35  # CUPTI_ERROR_INSUFFICIENT_PRIVILEGES


@recorded.needs_inject
class Versions(Contents):
    """Records are as long as the version at run time says: 200, 208 or 216 bytes of a kernel."""

    def version(self, name, cupti, number):
        for command in ("launch", 100), ("copies", 10), ("streams", 10):
            with self.subTest(command=command):
                run = self.run_program(*command, cupti=cupti, script=f"version {name}\n")
                self.assert_ok(run)
                file, _ = self.assert_recorded(run)
                self.assertEqual([r.value for r in file.info("cupti_version")], [number])

    def test_13_0(self):
        self.version("13.0", 13, 130001)

    def test_12_8(self):
        self.version("12.8", 13, 26)

    def test_12_2_without_a_choice_of_calls(self):
        self.version("12.2", 12, 20)

    def test_12_0(self):
        self.version("12.0", 12, 18)

    def test_11_8(self):
        self.version("11.8", 12, 18)


@recorded.needs_inject
class Buffers(Contents):
    def recorded(self, script, options=None, command=("launch", COUNT)):
        run = self.run_program(*command, script=script, options=options)
        self.assert_ok(run)
        return run

    def test_handed_over_on_the_thread_that_flushes(self):
        self.assert_recorded(self.recorded("deliver caller\n"))

    def test_handed_over_late(self):
        self.assert_recorded(self.recorded("late_ms 120\n"))

    def test_full_after_three_records(self):
        self.assert_recorded(self.recorded("buffer_records 3\n", command=("launch", 100)))

    def test_handed_over_newest_first(self):
        run = self.recorded("order reverse\nlate_ms 20\nbuffer_records 50\n")
        truth = [kernel_of_truth(t) for t in run.truth() if t.what == "kernel"]
        self.assertEqual(sorted(map(kernel_of_record, run.only().of("kernel"))), truth)
        self.assert_whole(run.only())

    def test_too_few_buffers_are_a_loss_that_is_stated(self):
        run = self.recorded("late_ms 300\nbuffer_records 20\n", "inject_buffers=4")
        file, truth = run.only(), [kernel_of_truth(t) for t in run.truth() if t.what == "kernel"]
        found = [kernel_of_record(r) for r in file.of("kernel")]
        self.assertEqual(len(set(found)), len(found))
        self.assertLessEqual(set(found), set(truth))
        self.assertLess(len(found), len(truth))
        losses = file.of("loss")
        self.assertEqual({r.reason for r in losses}, {"dropped_gpu"})
        # Each kernel has a call; both are lost or kept, but for those at the edges.
        self.assertGreaterEqual(sum(r.count for r in losses), len(truth) - len(found))

    def test_many_threads_and_few_buffers(self):
        threads, count = 24, 1000
        run = self.run_program("threads", count, threads, script="buffer_records 40\n", options="inject_buffers=6")
        self.assert_ok(run)
        file, truth = run.only(), [kernel_of_truth(t) for t in run.truth() if t.what == "kernel"]
        found = [kernel_of_record(r) for r in file.of("kernel")]
        self.assertEqual(len(found), len(set(found)))
        self.assertLessEqual(set(found), set(truth))
        if len(found) < len(truth):
            self.assertGreaterEqual(sum(r.count for r in file.of("loss")), len(truth) - len(found))

    def test_kernels_that_run_longer_than_the_time_between_flushes(self):
        run = self.recorded("kernel_ns 180000000\n", command=("launch", 8))
        self.assert_recorded(run)

    def test_records_that_nobody_asked_for(self):
        run = self.recorded("uninvited 900\nuninvited 39\nuninvited 17\n", command=("launch", 300))
        file, _ = self.assert_recorded(run)
        self.assertLessEqual(set(r.what for r in file.records),
                             {"info", "clock", "device", "thread", "kernel", "call", "sync", "module", "stream",
                              "overhead", "external", "loss"})


@recorded.needs_inject
class Errors(Contents):
    """Whatever CUPTI refuses: the program runs as ever, and the file says what is missing."""

    def test_every_function_fails(self):
        plain = self.plain("streams", 20).result()
        for function in FUNCTIONS:
            with self.subTest(function=function):
                run = self.run_program("streams", 20, script=f"error {function} {NOT_PERMITTED}\n")
                self.assertEqual(run.result(), plain)
                for file in run.processes:
                    self.assertEqual(file.torn, 0)

    def test_every_function_fails_at_its_second_call(self):
        plain = self.plain("launch", 300).result()
        for function in FUNCTIONS:
            with self.subTest(function=function):
                run = self.run_program("launch", 300, script=f"error {function} {NOT_PERMITTED} 2\n")
                self.assertEqual(run.result(), plain)

    def test_what_is_refused_is_said(self):
        for function in "cuptiActivityRegisterCallbacks", "cuptiActivityEnable":
            with self.subTest(function=function):
                run = self.run_program("launch", 50, script=f"error {function} {NOT_PERMITTED}\n")
                said = " ".join(r.text for r in run.only().info("cannot"))
                self.assertIn(str(NOT_PERMITTED), said)
                self.assertEqual(run.only().of("kernel"), [])

    def test_functions_that_never_return(self):
        # Of those that our own thread calls; the end of a program may wait a moment for it, not for ever.
        plain = self.plain("launch", 200).result()
        for function in ("cuptiActivityFlushAll", "cuptiActivityGetNextRecord", "cuptiActivityGetNumDroppedRecords",
                         "cuptiGetCallbackName"):
            with self.subTest(function=function):
                began = time.monotonic()
                run = self.run_program("launch", 200, script=f"hang {function}\n")
                self.assertEqual(run.result(), plain)
                self.assertLess(time.monotonic() - began, 10)
                run.files  # each readable as far as it goes

    def test_no_cupti_at_all(self):
        run = self.prepare("launch", 50)
        run.env["LD_LIBRARY_PATH"] = recorded.FAKE
        run.env["CUDA_HOME"] = run.env["CUDA_PATH"] = "/nonexistent"
        run.run()
        self.assertEqual((run.status, run.stdout), (0, "launched 50\n"))


@recorded.needs_inject
class Mixtures(Contents):
    """Many things at once; each mixture is that of its seed."""

    def mix(self, seed):
        source = random.Random(seed)
        lines = ["kernel_ns %d" % source.choice([1, 2000, 300000]), "copy_ns %d" % source.choice([100, 50000])]
        for line in ("late_ms %d" % source.choice([1, 30, 90]), "order reverse", "deliver caller", "nested 1",
                     "buffer_records %d" % source.choice([1, 7, 100]), "uninvited 900", "uninvited 39",
                     "clock %d %d" % (source.randrange(2**60), source.randrange(-300, 300))):
            if source.random() < 0.4:
                lines.append(line)
        version, cupti = source.choice([("13.0", 13), ("12.8", 13), ("12.2", 12), ("12.0", 12)])
        options = []
        if source.random() < 0.5:
            options.append("inject_buffers=%d" % source.choice([2, 8, 64]))
        if source.random() < 0.3:
            options.append("graphs=node")
        command = source.choice([("launch", 1500), ("copies", 60), ("streams", 60), ("loop", 120)])
        return "\n".join([f"version {version}", *lines, ""]), ";".join(options), cupti, command

    def test_of_seeds(self):
        for seed in range(8):
            script, options, cupti, command = self.mix(seed)
            with self.subTest(seed=seed, script=script, options=options, command=command):
                run = self.run_program(*command, script=script, cupti=cupti, options=options)
                self.assertEqual(run.result(), self.plain(*command, script=script).result())
                file, truth = run.only(), run.truth()
                by_node = "node" in options
                expected = sorted(kernel_of_truth(t) for t in truth if t.what == "kernel" and (by_node or not t.node))
                found = sorted(map(kernel_of_record, file.of("kernel")))
                self.assertEqual(len(file.info("ended")), 1)
                if file.of("loss"):
                    self.assertLessEqual(set(found), set(expected))
                    self.assertEqual(len(found), len(set(found)))
                else:
                    self.assertEqual(found, expected)
                    self.assertEqual(sum(r.bytes for r in file.of("copy")),
                                     sum(t.bytes for t in truth if t.what == "copy"))


@recorded.needs_inject
class Clocks(Contents):
    def test_far_from_ours(self):
        for offset in 0, 5 * 10**17, -10**9:
            with self.subTest(offset=offset):
                run = self.run_program("launch", 500, script=f"clock {offset} 0\n")
                self.assert_recorded(run)

    def test_that_runs_faster_or_slower(self):
        # What is left of 200 millionths between two pairs 200 ms apart is a line, so nothing is.
        for ppm in 200, -200:
            with self.subTest(ppm=ppm):
                run = self.run_program("loop", 700, script=f"clock 1000000000000 {ppm}\n")
                self.assert_ok(run)
                file, truth = run.only(), [t for t in run.truth() if t.what == "kernel"]
                clocks = file.of("clock")
                self.assertGreaterEqual(len(clocks), 3)
                self.assert_whole(file)
                self.assert_times(file, file.of("kernel"), truth, more_ns=100)

    def test_that_jumps_leaves_pairs_on_both_sides(self):
        run = self.run_program("loop", 700, script="clock 0 0\nclock_step 350000000 50000000\n")
        self.assert_ok(run)
        offsets = [c.cupti - c.before for c in run.only().of("clock")]
        self.assertEqual(collections.Counter(o // 40000000 for o in offsets).keys(), {0, 1})


if __name__ == "__main__":
    recorded.main()
