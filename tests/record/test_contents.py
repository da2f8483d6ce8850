#!/usr/bin/env python3
"""What a recording holds: every kernel, copy, byte and call of the program, once, in order, with its times."""
import collections

import recorded
from contents import Contents, ROUNDING_NS, kernel_of_record, kernel_of_truth


@recorded.needs_inject
class Programs(Contents):
    def test_kernels(self):
        self.check("launch", 5000)

    def test_copies_and_memory(self):
        file, _ = self.check("copies", 40)
        # Pageable is 1, pinned 2, device 3; towards the device 1, back 2.
        self.assertEqual(collections.Counter((r.direction, r.src, r.dst) for r in file.of("copy")),
                         {(1, 1, 3): 40, (1, 2, 3): 40, (2, 3, 2): 40})

    def test_streams_events_and_graphs(self):
        file, truth = self.check("streams", 30)
        graphs = file.of("graph")
        self.assertEqual([(r.correlation, r.graph, r.stream) for r in graphs],
                         [(t.correlation, t.graph, t.stream) for t in truth if t.what == "graph"])
        self.assertEqual([(r.event, r.event_sync, r.stream) for r in file.of("event")],
                         [(t.event, t.event_sync, t.stream) for t in truth if t.what == "event"])
        self.assertEqual([(r.event, r.event_sync) for r in file.of("sync") if r.type == 1],
                         [(t.event, t.event_sync) for t in truth if t.what == "sync" and t.type == 1])

    def test_waits_and_events_cost_so_much_that_they_are_asked_for(self):
        run = self.run_program("streams", 30, options="syncs=0")
        self.assert_ok(run)
        self.assertEqual([r for kind in ("event", "sync") for r in run.only().of(kind)], [])
        self.assertTrue([r for r in run.only().of("call") if "Synchronize" in r.name])

    def test_graphs_node_by_node(self):
        run = self.run_program("streams", 30, options="graphs=node")
        self.assert_ok(run)
        file, _ = self.assert_recorded(run, graphs_as_a_whole=False)
        self.assertEqual(file.of("graph"), [])
        self.assertEqual(len([r for r in file.of("kernel") if r.node]), 90)

    def test_what_the_file_says_of_its_process(self):
        file, truth = self.check("launch", 10)
        self.assertEqual([r.value for r in file.info("cupti_version")], [130001])
        self.assertEqual([r.value for r in file.info("driver_version")], [13000])
        self.assertEqual([r.text for r in file.info("command")], [f"{recorded.PROGRAM} launch 10"])
        devices = file.of("device")
        self.assertEqual([(d.device, d.name, d.cc, d.sms, d.memory) for d in devices],
                         [(0, "NVIDIA H200", 90, 132, 150000000000)])
        self.assertEqual(devices[0].uuid, bytes(range(16, 32)))
        self.assertEqual({m.module for m in file.of("module")}, {t.type for t in truth if t.what == "module"})

    def test_two_devices(self):
        run = self.run_program("devices", 100, script="devices 2\n")
        self.assert_ok(run)
        file, _ = self.assert_recorded(run)
        self.assertEqual(collections.Counter(r.device for r in file.of("kernel")), {0: 100, 1: 101})
        self.assertEqual({d.device: d.uuid for d in file.of("device")},
                         {0: bytes(range(16, 32)), 1: bytes(range(32, 48))})

    def test_only_what_the_program_marks(self):
        run = self.run_program("ranged", 200, options="range=cuda-profiler")
        self.assert_ok(run)
        self.assert_unchanged(run, "ranged", 200)
        file, truth = run.only(), run.truth()
        begin, = (t for t in truth if t.what == "call" and t.name == "cudaProfilerStart")
        end, = (t for t in truth if t.what == "call" and t.name == "cudaProfilerStop")
        wanted = [kernel_of_truth(t) for t in truth if t.what == "kernel" and
                  begin.correlation < t.correlation < end.correlation]
        found = [kernel_of_record(r) for r in file.of("kernel")]
        self.assertEqual(len(wanted), 201)
        self.assertEqual(found, wanted)
        self.assertEqual({r.reason for r in file.of("loss")}, {"paused"})

    def test_calls_that_fail(self):
        file, _ = self.assert_recorded(self.run_program("state", 10))
        # cudaErrorInvalidMemcpyDirection
        self.assertEqual([r.result for r in file.of("call") if r.name == "cudaMemcpy"], [21])

    def test_driver_calls_under_runtime_calls_stay_countable(self):
        run = self.run_program("launch", 100, script="nested 1\n")
        self.assert_ok(run)
        file, _ = self.assert_recorded(run)
        launches = collections.Counter(r.correlation for r in file.of("call") if r.is_driver and
                                       r.name == "cuLaunchKernel")
        self.assertLessEqual(set(launches.values()), {1})

    def test_kernels_by_name(self):
        run = self.run_program("launch", 100, options="kernels=nccl|add")
        self.assert_ok(run)
        file = run.only()
        self.assertEqual(collections.Counter(r.name for r in file.of("kernel")),
                         {"_Z3addPfS_i": 25, "ncclDevKernel_AllReduce": 25, "": 50})


@recorded.needs_ranges
class Threads(Contents):
    def test_every_thread_and_its_ranges(self):
        threads, count = 8, 300
        run = self.run_program("threads", count, threads)
        self.assert_ok(run)
        self.assert_unchanged(run, "threads", count, threads)
        file, truth = run.only(), run.truth()
        self.assert_whole(file)
        self.assertEqual(sorted(map(kernel_of_record, file.of("kernel"))),
                         sorted(kernel_of_truth(t) for t in truth if t.what == "kernel"))
        self.assert_calls(file, truth)
        # Threads 2 and 5 die within step 150, so 150 steps of theirs ended, and neither's own range.
        ranges = collections.Counter(r.name for r in file.of("range"))
        expected = {"step": 6 * count + 2 * (count // 2), "all threads": 1, "joined": 1}
        expected.update({f"worker {i}": 1 for i in range(threads) if i % 3 != 2})
        self.assertEqual(ranges, expected)
        for r in file.of("range"):
            self.assertLessEqual(r.start, r.end)
            self.assertEqual(r.start == r.end, r.name == "joined", r)

    def test_ranges_lie_around_their_launches(self):
        run = self.run_program("threads", 50, 2)
        file = run.only()
        steps = sorted((r for r in file.of("range") if r.name == "step"), key=lambda r: (r.tid, r.start))
        calls = sorted((c for c in file.of("call") if c.name == "cudaLaunchKernel"), key=lambda c: (c.tid, c.start))
        self.assertEqual(len(steps), len(calls))
        for step, call in zip(steps, calls):
            start, error = file.to_mono(call.start)
            end, more = file.to_mono(call.end)
            self.assertEqual(step.tid, call.tid)
            self.assertLessEqual(step.start, start + error + ROUNDING_NS)
            self.assertGreaterEqual(step.end, end - more - ROUNDING_NS)


if __name__ == "__main__":
    recorded.main()
