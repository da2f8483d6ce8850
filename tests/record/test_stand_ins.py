#!/usr/bin/env python3
"""The stand-ins by themselves, with the least of clients: what the other tests stand on."""
import collections

import recorded


class StandIns(recorded.TestCase):
    def run_floor(self, *command, script="", env=()):
        return self.run_program(*command, script=script, inject=recorded.FLOOR, env={"FW_FLOOR_COUNT": "1", **dict(env)},
                                nvtx=False)

    def test_every_kernel_reaches_the_client_once(self):
        run = self.run_floor("launch", 1000)
        self.assertEqual(run.result(), (0, "launched 1000\n", "floor: 1000 kernels, 0 others\n"))

    def test_what_is_not_enabled_makes_no_record(self):
        run = self.run_floor("copies", 20)
        self.assertEqual(run.stderr, "floor: 0 kernels, 0 others\n")

    def test_uninvited_records_come_when_the_script_says_so(self):
        run = self.run_floor("launch", 10, script="uninvited 900\nuninvited 17\n")
        self.assertEqual(run.stderr, "floor: 10 kernels, 20 others\n")

    def test_ways_to_learn_when_a_launch_was_called(self):
        for mode in "calls", "callback-empty", "callback", "callback-tsc":
            run = self.run_floor("launch", 50, env={"FW_FLOOR_MODE": mode})
            others = 0 if mode == "callback-empty" else 50
            self.assertEqual(run.stderr, f"floor: 50 kernels, {others} others, {mode}\n")

    def test_a_client_that_gets_an_error_is_left_out(self):
        # 15 is CUPTI_ERROR_NOT_INITIALIZED.
        run = self.run_floor("launch", 10, script="error cuptiActivityEnable 15\n")
        self.assertEqual(run.result(), (0, "launched 10\n", ""))

    def test_the_truth_is_what_the_program_did(self):
        run = self.plain("copies", 3)
        truth = collections.Counter(t.what for t in run.truth())
        # Three buffers made and freed; each round three copies, a memset, a wait.
        self.assertEqual((truth["memory"], truth["copy"], truth["memset"], truth["sync"]), (6, 9, 3, 3))
        self.assertEqual([t.bytes for t in run.truth() if t.what == "copy"],
                         [4096, 1, 1000, 4095, 2, 1000, 4094, 3, 1000])

    def test_work_on_a_stream_is_one_after_the_other(self):
        kernels = [t for t in self.plain("launch", 200).truth() if t.what == "kernel"]
        self.assertEqual(len(kernels), 200)
        for before, after in zip(kernels, kernels[1:]):
            self.assertLessEqual(before.end, after.start)


if __name__ == "__main__":
    recorded.main()
