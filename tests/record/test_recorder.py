#!/usr/bin/env python3
"""`fullwarp record` and `fullwarp run` around programs on the stand-ins: one process, several, ranks of a job."""
import json
import os
import shutil
import signal
import subprocess
import time

import recorded
from contents import Contents, kernel_of_record, kernel_of_truth
from read_recording import read_folder


@recorded.needs_recorder
class Recorder(Contents):
    def under(self, command, *words, env=None, folder=None):
        """The recorder with these words around a command line."""
        run = self.prepare(*command, inject="", env=env)
        shutil.rmtree(run.folder)
        run.env["FULLWARP_INJECT"] = recorded.INJECT
        folder = folder.format(run.temporary) if folder else run.folder
        # PM sampling would open the toolkit's libcupti, whose libraries leak, on a driver that is none.
        run.command = [recorded.RECORDER, *(words or ("record",)), "--counters", "nvml", "-o", folder, "--",
                       *run.command]
        return run

    def of_processes(self, folder):
        return [file for file in read_folder(folder) if file.kind == "process" and file.of("kernel")]

    def test_one_process(self):
        for command in ("launch", 3000), ("copies", 30), ("streams", 20):
            with self.subTest(command=command):
                run = self.under(command, "record", "--syncs").run()
                self.assertEqual((run.status, run.stdout), self.plain(*command).result()[:2], run.stderr)
                self.assert_recorded(run)

    def test_the_status_is_the_programs(self):
        for command, status in ("exit", 3), ("_exit", 3), ("abort", 128 + 6), ("kill", 128 + 9):
            with self.subTest(command=command):
                run = self.under((command, 100)).run()
                self.assertEqual((run.status, run.stdout), (status, "launched 100\n"), run.stderr)
                self.assertEqual(len(run.only().of("kernel")), 100)

    def test_several_ranks_in_one_folder(self):
        shell = 'RANK=0 WORLD_SIZE=2 "$0" launch 100 & RANK=1 WORLD_SIZE=2 "$0" launch 300 & wait'
        run = self.under(("/bin/sh", "-c", shell, recorded.PROGRAM)).run()
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(sorted(run.stdout.split("\n")), ["", "launched 100", "launched 300"])
        found = {}
        for file in self.of_processes(run.folder):
            rank, = (r.value for r in file.info("rank"))
            found[rank] = len(file.of("kernel"))
            self.assertEqual([r.value for r in file.info("world_size")], [2])
            self.assert_kernels(file, run.truth(file.pid))
        self.assertEqual(found, {0: 100, 1: 300})

    def test_a_recorder_of_each_rank(self):
        runs = [self.under(("launch", 50 * (rank + 1)), env={"RANK": str(rank), "WORLD_SIZE": "2"},
                           folder="{}/rank-%r") for rank in range(2)]
        for run in runs:
            run.start()
        for rank, run in enumerate(runs):
            run.wait()
            self.assertEqual(run.status, 0, run.stderr)
            file, = self.of_processes(os.path.join(run.temporary, f"rank-{rank}"))
            self.assertEqual(len(file.of("kernel")), 50 * (rank + 1))

    def test_recorders_that_share_a_folder(self):
        first = self.under(("loop", 300), env={"RANK": "0", "WORLD_SIZE": "2"}).start()
        second = self.under(("loop", 300), env={"RANK": "1", "WORLD_SIZE": "2"}, folder=first.folder).start()
        for run in first, second:
            run.wait()
            self.assertEqual((run.status, run.stdout), (0, "looped 300\n"), run.stderr)
        ranks = sorted(r.value for file in self.of_processes(first.folder) for r in file.info("rank"))
        self.assertEqual(ranks, [0, 1])

    def windows(self, *options, milliseconds=1500, during=None):
        """Runs a loop; its kernels' starts in the recording, seconds since the loop's first, and the file."""
        run = self.under(("loop", milliseconds), "record", *options).start()
        if during:
            during(run)
        run.wait()
        self.assertEqual((run.status, run.stdout), (0, f"looped {milliseconds}\n"), run.stderr)
        file, truth = run.only(), [t for t in run.truth() if t.what == "kernel"]
        self.assertLessEqual(set(map(kernel_of_record, file.of("kernel"))), set(map(kernel_of_truth, truth)))
        first = truth[0].start
        starts = [(file.to_mono(k.start)[0] - first) / 1e9 for k in file.of("kernel")]
        edge = 10**7 * recorded.SLOW  # a thread may be held up between being asked for and launching
        for loss in (r for r in file.of("loss") if r.reason == "paused"):
            inside = [s for s in starts if loss.start - first + edge < s * 1e9 < loss.end - first - edge]
            self.assertEqual(inside, [], f"recorded while paused: {loss}")
        return starts, file, (truth[-1].end - first) / 1e9

    def test_delay_and_duration(self):
        self.in_time(self.check_delay_and_duration)

    def check_delay_and_duration(self):
        starts, file, whole = self.windows("--delay", "0.4", "--duration", "0.5")
        self.assertIn("paused", {r.reason for r in file.of("loss")})
        self.assertGreater(starts[0], 0.2)
        self.assertLess(starts[-1] - starts[0], 0.5 + 0.25 * recorded.SLOW)
        self.assertLess(starts[-1], whole - 0.1)

    def test_a_part_of_each_interval(self):
        self.in_time(self.check_a_part_of_each_interval)

    def check_a_part_of_each_interval(self):
        starts, _, whole = self.windows("--every", "0.4", "--for", "0.1", milliseconds=1600)
        pauses = [b - a for a, b in zip(starts, starts[1:]) if b - a > 0.1]
        self.assertGreaterEqual(len(pauses), 2)
        self.assertLess(sum(pauses), whole)

    def test_from_signal_to_signal(self):
        self.in_time(self.check_from_signal_to_signal)

    def check_from_signal_to_signal(self):
        def send(run):
            for pause in 0.5, 0.4:
                time.sleep(pause)
                run.process.send_signal(signal.SIGUSR1)
        starts, _, whole = self.windows("--signal", "USR1", milliseconds=1500, during=send)
        self.assertGreater(starts[0], 0.1)
        self.assertLess(starts[-1] - starts[0], 0.4 + 0.25 * recorded.SLOW)
        self.assertLess(starts[-1], whole - 0.1)

    def test_options_reach_the_library(self):
        run = self.under(("streams", 30), "record", "--graphs", "node", "--kernels", "nccl").run()
        self.assertEqual(run.status, 0, run.stderr)
        kernels = run.only().of("kernel")
        self.assertEqual(len([k for k in kernels if k.node]), 90)
        self.assertEqual({k.name for k in kernels}, {"ncclDevKernel_AllReduce", ""})
        run = self.under(("launch", 20000), "record", "--max-size", "1M").run()
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual({r.reason for r in run.only().of("loss")}, {"size"})

    def test_the_report_counts_what_the_program_did(self):
        run = self.under(("streams", 50)).run()
        report = subprocess.run([recorded.RECORDER, "report", "--format", "json", "--all", run.folder],
                                capture_output=True, text=True, check=False)
        self.assertEqual(report.returncode, 0, report.stderr)
        everything = json.loads(report.stdout)["devices"][0]["all"]
        # Two kernels and a graph of three each time; fifty waits for an event and one for the device.
        truth = run.truth()
        work = [t for t in truth if t.what == "graph" or t.what == "kernel" and not t.node]
        self.assertEqual((everything["kernels"], everything["syncs"], everything["streams"]), (100, 51, 2))
        # Each end may be rounded when CUPTI's clock is brought to ours.
        self.assertLessEqual(abs(everything["gpu_busy_ns"] - union_ns(work)), 2 * len(work))
        self.assertLessEqual(abs(everything["span_ns"] - (max(t.end for t in work) - min(t.start for t in work))), 1000)

    def test_the_report_states_how_far_the_clocks_may_be_off(self):
        for script in "", "clock 0 0\nclock_step 350000000 50000000\n":
            limit = 60_000_000 if script else 1_000_000
            stated = [self.clock_error(script)]
            while stated[-1] >= limit and len(stated) < 4:  # a busy machine reads the clocks far apart
                stated.append(self.clock_error(script))
            self.assertLess(stated[-1], limit)

    def clock_error(self, script):
        """As the report states it: not less than what it is."""
        run = self.prepare("loop", 700, script=script).run()
        report = subprocess.run([recorded.RECORDER, "report", "--format", "json", run.folder],
                                capture_output=True, text=True, check=False)
        stated = json.loads(report.stdout)["trace"]["recording"]["clock_error_ns"]
        truth = {t.correlation: t for t in run.truth() if t.what == "kernel"}
        file = run.only()
        worst = max(abs(file.to_mono(k.start)[0] - truth[k.correlation].start) for k in file.of("kernel"))
        self.assertLessEqual(worst, stated + 2)
        return stated

    def test_run_prints_the_report_beside_the_program(self):
        run = self.under(("copies", 40), "run").run()
        plain = self.plain("copies", 40)
        self.assertEqual((run.status, run.stdout), (0, plain.stdout))
        self.assertIn("H200", run.stderr)

    def test_a_report_that_cannot_be_printed_is_not_the_programs_failure(self):
        run = self.under(("launch", 100), "run")
        at = run.command.index("-o")
        del run.command[at:at + 2]  # a recording that is kept only where its report is lost
        kept = os.path.join(run.temporary, "kept")
        os.mkdir(kept)

        def status(stderr):
            return subprocess.run(run.command, env={**run.env, "TMPDIR": kept}, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=stderr, check=False).returncode
        reader, gone = os.pipe()
        os.close(reader)
        self.assertEqual((status(gone), os.listdir(kept)), (0, []), "whoever closes a pipe wants no more")
        os.close(gone)
        with open("/dev/full", "wb") as full:
            self.assertEqual(status(full), 0)
        folder, = os.listdir(kept)
        self.assertEqual(len(self.of_processes(os.path.join(kept, folder))), 1)


def union_ns(spans):
    busy, end = 0, 0
    for span in sorted(spans, key=lambda t: t.start):
        busy += max(0, span.end - max(span.start, end))
        end = max(end, span.end)
    return busy


if __name__ == "__main__":
    recorded.main()
