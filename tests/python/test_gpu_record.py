#!/usr/bin/env python3
"""The tools of tests/gpu/record, which no machine without a GPU runs, on recordings, traces and listings made up here."""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/gpu/record"), str(ROOT / "bench/record"), str(ROOT / "scripts")]
import check_results  # noqa: E402
import convert  # noqa: E402
import counters  # noqa: E402
import ddp  # noqa: E402
import fwr  # noqa: E402
import host  # noqa: E402
import kills  # noqa: E402
import overhead  # noqa: E402
import soak  # noqa: E402
import truth  # noqa: E402
import turns  # noqa: E402


def record(kind, extra, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<HHI", kind, 8 + len(body), extra) + body


def string(number, text):
    return record(fwr.STRING, number, struct.pack("<II", len(text), 0) + text.encode())


def clock(cupti, mono):
    return record(fwr.CLOCK, 0, struct.pack("<qqQq", mono - 1, mono + 1, cupti, 0))


def kernel(start, end, name, stream=7, shape=(1, 1, 1, 32, 1, 1), device=0):
    return record(fwr.KERNEL, 1, struct.pack("<QQQIIIII6iiiiiH3H", start, end, 0, 0, device, 1, stream, name, *shape, 0, 0,
                                             -1, -1, 16, 0, 0, 0))


def copy(start, end, size, direction=1, source=1, target=3):
    return record(fwr.COPY, 2, struct.pack("<QQQQIIIIBBBBII", start, end, size, 0, 0, 0, 1, 7, direction, source, target, 0,
                                           0, 0) + b"\0" * 4)


def memset(start, end, size):
    return record(fwr.MEMSET, 3, struct.pack("<QQQQIIIIBB", start, end, size, 0, 0, 0, 1, 7, 3, 0) + b"\0" * 6)


def counter(start, end, name, value):
    return record(fwr.COUNTER, 0, struct.pack("<qqdII", start, end, value, name, 0))


def chunk(sequence, payload):
    head = struct.pack("<IIIIH6xI", fwr.CHUNK_MAGIC, len(payload), len(payload), sequence, 0, 0)
    crc = zlib.crc32(payload, zlib.crc32(head))
    return head + struct.pack("<I", crc) + payload + b"\0" * (-len(payload) % 8)


def file_bytes(pid, *chunks):
    head = fwr.MAGIC + struct.pack("<HHI", 1, 1, pid) + b"\0" * 44
    return head + struct.pack("<I", zlib.crc32(head)) + b"".join(chunks)


def write(folder, name, pid, *payloads):
    (pathlib.Path(folder) / name).write_bytes(file_bytes(pid, *(chunk(i, p) for i, p in enumerate(payloads))))


class Folder(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)


class Decoder(Folder):
    def test_sizes_are_those_of_the_format(self):
        sizes = {fwr.KERNEL: 104, fwr.COPY: 72, fwr.MEMSET: 64, fwr.COUNTER: 40, fwr.CLOCK: 40}
        made = {fwr.KERNEL: kernel(1, 2, 0), fwr.COPY: copy(1, 2, 3), fwr.MEMSET: memset(1, 2, 3),
                fwr.COUNTER: counter(1, 2, 0, 0.0), fwr.CLOCK: clock(1, 2)}
        self.assertEqual({kind: len(b) for kind, b in made.items()}, sizes)

    def test_times_are_mapped_between_the_clock_pairs(self):
        # 1000 -> 5000 and 3000 -> 7200: at 2000 half of the drift of 200 has come, so 6100.
        write(self.folder, "process-9-0.fwr", 9, string(1, "_Z1av") + clock(1000, 5000) + kernel(2000, 2500, 1) +
              clock(3000, 7200))
        recording = fwr.Recording(self.folder)
        self.assertEqual(recording.kernels[0][:4], (6100, 6650, "_Z1av", 9))
        self.assertEqual((recording.kernels[0][6], recording.damaged), (500, 0))

    def test_a_damaged_chunk_is_skipped_and_counted(self):
        whole = [chunk(i, clock(0, 0) + kernel(i, i + 1, 0)) for i in range(3)]
        whole[1] = whole[1][:48] + b"\xff" + whole[1][49:]
        (self.folder / "process-9-0.fwr").write_bytes(file_bytes(9, *whole) + b"FWCH")
        recording = fwr.Recording(self.folder)
        self.assertEqual((len(recording.kernels), recording.damaged), (2, 1))

    def test_union(self):
        self.assertEqual(fwr.union_ns([(0, 10), (5, 12), (20, 21), (20, 21)]), 13)


MARK = truth.MARK


def round_of(at, kernels, name=1):
    """Begin mark, kernels of 10 ns with gaps of 10 ns, a memset, end mark."""
    body = copy(at, at + 1, MARK)
    for i in range(kernels):
        body += kernel(at + 10 + 20 * i, at + 20 + 20 * i, name)
    return body + memset(at + 500, at + 504, 64) + copy(at + 600, at + 601, MARK + 1)


class Truth(Folder):
    def recorded(self, *counts):
        write(self.folder, "process-1-0.fwr", 1, string(1, "_Z3addPfi") + clock(0, 0) + kernel(1, 2, 1) +
              b"".join(round_of(1000 * (i + 1), n) for i, n in enumerate(counts)))
        return truth.rounds_of_recording(fwr.Recording(self.folder), truth.demangler())

    def profiled(self, *counts):
        events = []
        for i, n in enumerate(counts):
            at = 1000 * (i + 1)
            shape = [("gpu_memcpy", at, 1, "Memcpy HtoD (Pageable -> Device)", {"bytes": MARK})]
            shape += [("kernel", at + 10 + 20 * k, 10, "add(float*, int)", {}) for k in range(n)]
            shape += [("gpu_memset", at + 500, 4, "Memset (Device)", {"bytes": 64}),
                      ("gpu_memcpy", at + 600, 1, "Memcpy HtoD (Pageable -> Device)", {"bytes": MARK + 1})]
            events += [{"ph": "X", "cat": c, "ts": s / 1000, "dur": d / 1000, "name": name, "args": a}
                       for c, s, d, name, a in shape]
        path = self.folder / "trace.json"
        path.write_text(json.dumps({"traceEvents": events + [{"ph": "X", "cat": "cpu_op", "ts": 0, "dur": 1, "name": "x"}]}))
        return truth.rounds_of_trace(path)

    def test_equal_runs_have_no_difference(self):
        found, busy = truth.compare_rounds(self.recorded(5, 5, 5, 5), self.profiled(5, 5, 5))
        self.assertEqual(found, [])
        self.assertAlmostEqual(busy, 0.0)

    def test_a_round_counts_only_what_is_between_its_marks(self):
        self.assertEqual([dict(r["kernels"]) for r in self.recorded(5, 3)], [{"add(float*, int)": 5},
                                                                             {"add(float*, int)": 3}])
        # 5 kernels of 10 ns and a memset of 4 ns.
        self.assertEqual(self.recorded(5)[0]["busy_ns"], 54)

    def test_a_kernel_too_few_is_found(self):
        found, busy = truth.compare_rounds(self.recorded(5, 5, 4), self.profiled(5, 5, 5))
        self.assertEqual(found, ["round 2: kernel add(float*, int): 4, not 5"])
        self.assertAlmostEqual(busy, 0.0)

    def test_a_memset_of_a_graph_may_be_told_as_its_kernel(self):
        ours, theirs = self.recorded(5, 5, 5), self.profiled(5, 5, 5)
        for kept in theirs:
            kept["kernels"]["memset32"], kept["memsets"] = 1, [0, 0]
        self.assertEqual(truth.compare_rounds(ours, theirs)[0], [])
        theirs[2]["kernels"]["memset32"] = 2
        self.assertEqual(truth.compare_rounds(ours, theirs)[0], ["round 2: memsets: [1], not [2]"])

    def test_a_round_that_was_half_lost_is_no_round(self):
        write(self.folder, "process-1-0.fwr", 1, clock(0, 0) + copy(10, 11, MARK + 1) + round_of(1000, 2))
        self.assertEqual(len(truth.rounds_of_recording(fwr.Recording(self.folder), truth.demangler())), 1)

    def test_what_a_program_did_by_construction(self):
        expected = {"kernels": {"add(float*, int)": 2}, "copies": {"DtoH (Device -> Pinned)": [1, 4096]},
                    "memsets": [1, 64], "events": 0, "streams": 2,
                    "syncs": {"context": 0, "stream": 0, "event": 0, "stream_wait": 0}}
        body = string(1, "_Z3addPfi") + clock(0, 0) + kernel(1, 2, 1, 7) + kernel(3, 4, 1, 8) + memset(5, 6, 64)
        write(self.folder, "process-1-0.fwr", 1, body + copy(7, 8, 4096, 2, 3, 2))
        self.assertEqual(truth.constructed(fwr.Recording(self.folder), expected, truth.demangler()), [])
        write(self.folder, "process-1-0.fwr", 1, body)
        self.assertEqual(truth.constructed(fwr.Recording(self.folder), expected, truth.demangler()),
                         ["copies DtoH (Device -> Pinned): [0, 0], not [1, 4096]"])


NCU = '''==PROF== Connected
"ID","Process ID","Kernel Name","Grid Size","Block Size","Metric Name","Metric Unit","Metric Value"
"0","1","spin(long long)","(66, 1, 1)","(1024, 1, 1)","gpu__time_duration.sum","ms","60.61"
"0","1","spin(long long)","(66, 1, 1)","(1024, 1, 1)","sm__cycles_active.avg.pct_of_peak_sustained_elapsed","%","50.00"
"0","1","spin(long long)","(66, 1, 1)","(1024, 1, 1)","sm__warps_active.avg.pct_of_peak_sustained_active","%","49.90"
"1","1","reduce","(1, 1, 1)","(32, 1, 1)","gpu__time_duration.sum","us","12"
'''


class Counters(Folder):
    def test_ncu_listing(self):
        found = counters.read_ncu(NCU)
        self.assertEqual(list(found), ["spin 66 x 1024"])
        self.assertAlmostEqual(found["spin 66 x 1024"]["ns"], 60.61e6)
        self.assertEqual(found["spin 66 x 1024"]["achieved_occupancy_percent"], 49.9)

    def test_samples_inside_a_kernel_are_weighted_by_their_length(self):
        ms = 1_000_000
        payload = string(1, "_Z4spinx") + clock(0, 0) + kernel(0, 50 * ms, 1, shape=(66, 1, 1, 1024, 1, 1))
        write(self.folder, "process-1-0.fwr", 1, payload)
        # The first overlaps the edge and does not count; (10 * 40 + 30 * 60) / 40 = 55.
        samples = [(0, 1, 7.0), (1, 11, 40.0), (11, 41, 60.0)]
        body = string(1, "sm_busy_percent") + string(2, "warp_slots_percent")
        for start, end, value in samples:
            body += counter(start * ms, end * ms, 1, value) + counter(start * ms, end * ms, 2, value / 2)
        write(self.folder, "counters.fwr", 2, body)
        found, used = counters.read_recording(fwr.Recording(self.folder))
        self.assertEqual(used, 4)
        self.assertAlmostEqual(found["spin 66 x 1024"]["sm_busy_percent"][0], 55.0)
        self.assertAlmostEqual(found["spin 66 x 1024"]["achieved_occupancy_percent"][0], 50.0)

    def test_one_missing_kernel_is_no_result(self):
        names = ["a", "b", "c", "d", "e"]
        result = {"recorded": {n: {"sm_busy_percent": [50.0], "achieved_occupancy_percent": [25.0]} for n in names},
                  "ncu": {n: {"sm_busy_percent": 51.0, "achieved_occupancy_percent": 27.5} for n in names}}
        self.assertEqual(counters.worst(result), 2.5)
        del result["ncu"]["e"]
        self.assertIsNone(counters.worst(result))


class Overhead(unittest.TestCase):
    def test_whose_turn_it_is(self):
        names = ["plain-a", "plain-b", "nsys"]
        due = [[n for n in names if overhead.is_due(n, "launch", cycle)] for cycle in (0, 1, 2, 4)]
        self.assertEqual(due, [["plain-a"], ["plain-b", "nsys"], ["plain-a"], ["plain-a", "nsys"]])
        self.assertEqual([c for c in range(40) if overhead.is_due("profiler", "fp16", c)], [1, 16, 31])

    def test_where_the_median_lies(self):
        # 100 values 0 to 99: ranks 50 - 9.8 and 50 + 9.8.
        self.assertEqual(overhead.interval(range(100)), "100 pairs, their median lies between 40 and 59 with 95 %")

    def test_pairs_not_medians_of_all(self):
        # Pairs: 1.1/1.0 and 2.2/2.0, 10 % each, though the machine was twice as slow the second time.
        # The floor's third cycle has no partner and does not count.
        seconds = {"plain": {"0": 1.0, "1": 2.0}, "ours": {"0": 1.1, "1": 2.2}, "floor": {"0": 1.05, "1": 2.1, "2": 9.0}}
        result = {"seconds": {"launch": seconds, "fp16": seconds, "after": seconds}}
        self.assertAlmostEqual(overhead.judge_launch(result)[1], 1.1 / 1.05)
        self.assertAlmostEqual(overhead.judge_loops(result)[1], 5.0)
        del result["seconds"]["after"]
        self.assertIsNone(overhead.judge_loops(result)[1])


class Floor(Folder):
    def test_a_floor_that_saw_nothing_is_none(self):
        for text, kept in (("x\nfloor: 12 kernels, 0 others\nfloor: 13 kernels, 0 others\n", True),
                           ("floor: 12 kernels, 0 others\nfloor: 0 kernels, 0 others\n", False), ("", False)):
            result = {"failed": {}, "seconds": {"launch": {"floor": {"0": 1.0}}}}
            path = self.folder / "log"
            path.write_text(text)
            overhead.check_floor(path, ["launch"], result)
            self.assertEqual("floor" in result["seconds"]["launch"], kept)
            self.assertEqual(result["failed"] == {}, kept)


class Nsys(Folder):
    def test_of_several_versions_the_newest_is_found(self):
        for version in ("2025.9.1", "2025.10.0"):
            tool = self.folder / "nsight-compute" / version / "host/target-linux-x64/fw-no-such-tool"
            tool.parent.mkdir(parents=True)
            tool.touch()
        places = (f"{self.folder}/nowhere*/x", f"{self.folder}/nsight-compute/*/host/target-linux-x64/fw-no-such-tool")
        self.assertEqual(host.find_tool("fw-no-such-tool", places), str(tool))
        self.assertIsNone(host.find_tool("fw-no-such-tool", places[:1]))

    def test_one_that_captured_nothing_is_not_compared(self):
        for size, kept in ((2 << 20, True), (100, False)):
            result = {"failed": {}, "seconds": {"launch": {"nsys": {"0": 1.0}}}}
            (self.folder / "nsys.qdstrm").write_bytes(b"\0" * size)
            with unittest.mock.patch.object(overhead, "find_tool", return_value="nsys"):
                overhead.check_nsys(self.folder, ["launch"], result)
            self.assertEqual(("nsys" in result["seconds"]["launch"], result["failed"] == {}), (kept, kept))

    def test_none_is_said(self):
        result = {"failed": {}, "seconds": {}}
        with unittest.mock.patch.object(overhead, "find_tool", return_value=None):
            overhead.check_nsys(self.folder, ["launch"], result)
        self.assertIn("/opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys", result["failed"]["nsys"])


class Turns(Folder):
    def test_two_processes_take_turns(self):
        worker = 'echo ready >"$1"; while read -r line; do [ "$line" = quit ] && exit 0; echo "done 0.5" >"$1"; done'
        specs = [(name, ["sh", "-c", f'exec <"$2"; exec 3>"$1"; {worker}', "sh", "{out}", "{in}"], None)
                 for name in ("a", "b")]
        specs.append(("dead", ["sh", "-c", "exit 3"], None))
        ready, failed = turns.start_all(specs, self.folder, 20, subprocess.DEVNULL, lambda pid: None)
        self.assertEqual((sorted(ready), failed), (["a", "b"], {"dead": "dead: ended with status 3"}))
        for name in ("a", "b", "a"):
            self.assertEqual(ready[name].go("loop", 10), 0.5)
        for turner in ready.values():
            self.assertEqual(turner.quit(10), 0)

    def test_one_that_does_not_answer_fails(self):
        specs = [("mute", ["sh", "-c", 'echo ready >"$1"; sleep 60', "sh", "{out}", "{in}"], None)]
        ready, _ = turns.start_all(specs, self.folder, 20, subprocess.DEVNULL, lambda pid: None)
        with self.assertRaises(turns.TurnFailed):
            ready["mute"].go("loop", 0.2)
        ready["mute"].kill()


class Others(Folder):
    def test_slope(self):
        self.assertAlmostEqual(soak.steady_slope([(t, 1000.0 + 3 * t) for t in range(40)]), 3.0)
        # The pools fill in the first quarter; then nothing grows.
        self.assertAlmostEqual(soak.steady_slope([(t, 1000.0 * min(t, 10)) for t in range(40)]), 0.0)

    def test_progress(self):
        path = self.folder / "progress"
        path.write_text("pid 42\n1000 500\n2000 1000\n30")
        self.assertEqual(kills.read_progress(path), (42, [(1000, 500), (2000, 1000)]))

    def test_ends_of_collectives(self):
        found = {7: [(0, 5_000_000)], 9: [(4_000_000, 5_100_000)]}
        self.assertEqual(ddp.ends_apart_ms(found), [0.1])


class Converter(Folder):
    def result(self):
        seconds = {name: {str(c): 1.0 + i / 100 for c in range(7)} for i, name in enumerate(("plain", "floor", "ours", "profiler"))}
        names = [f"k{i}" for i in range(5)]
        return {
            "gpu": "NVIDIA H200", "driver": "580", "cores": 16, "date": "2026-11-30", "parts": {
                "truth": {"differences": {"before": [], "after": ["x: 1, not 2"]},
                          "busy_error_percent": {"before": 1.0, "after": None}},
                "counters": {"recorded": {n: {"sm_busy_percent": [50.0], "achieved_occupancy_percent": [25.0]} for n in names},
                             "ncu": {n: {"sm_busy_percent": 51.0, "achieved_occupancy_percent": 25.5} for n in names}},
                "overhead": {"seconds": {"launch": dict(seconds), "fp16": dict(seconds), "after": dict(seconds)},
                             "failed": {}, "launches": 1000, "batches": {"fp16": 60, "after": 24}},
                "kills": {"runs": 50, "survived": 49, "problems": ["run 3: x"], "lost_ms": [80.0]},
                "soak": {"seconds": 480.0, "rss": {"program": [(1, 5)], "recorder": []}, "slope_program": 10.0,
                         "slope_recorder": 20.0, "launches": 5, "size_bytes": [(1, 2)],
                         "report": {"trace": {"integrity": {"dropped_records": 3}}, "verdict": ""}},
                "ddp": {"slowed": {"problems": [], "ends_apart_ms": [0.01, 0.1]}, "balanced": {"problems": []}},
                "examples": {"programs": {"naive": {"status": 0, "report_status": 0}}},
                "growth": {"error": "nothing came back"}}}

    def test_what_comes_out_is_a_result_file(self):
        path = self.folder / "record.json"
        path.write_text(json.dumps(self.result()))
        made = subprocess.run([sys.executable, "-B", str(ROOT / "tests/gpu/record/convert.py"), "0123abc", str(path)],
                              capture_output=True, text=True, check=True).stdout
        result = self.folder / "record-h200.json"
        result.write_text(made)
        problems = []
        check_results.check_file(result, "bench/results/record-h200.json", problems)
        self.assertEqual(problems, [])
        rows = {r["name"]: r["runs"] for r in json.loads(made)["rows"]}
        self.assertEqual(rows["soak, records lost as the recording says"], [3])
        met = {t["name"]: (t["measured"], t["met"]) for t in json.loads(made)["targets"]}
        # One difference, one busy time not compared; 1.02 / 1.01; 2 - 1 points; 49 of 50; the worse slope.
        self.assertEqual(met["record_truth_differences"], (2, False))
        self.assertEqual(met["counter_error_points"], (1.0, True))
        self.assertAlmostEqual(met["launch_loop_vs_floor"][0], 1.02 / 1.01)
        self.assertAlmostEqual(met["loop_slowdown_minus_floor_points"][0], 1.0)
        self.assertEqual((met["kills_survived"], met["rss_slope_bytes_s"]), ((49, False), (20.0, True)))

    def test_a_later_visit_replaces_only_what_it_measured(self):
        first, second = self.result(), {**self.result(), "parts": {"kills": {"runs": 50, "survived": 50},
                                                                   "truth": {"error": "stopped"}}}
        paths = [self.folder / name for name in ("1.json", "2.json")]
        for path, data in zip(paths, (first, second)):
            path.write_text(json.dumps(data))
        parts = convert.merge(map(str, paths))["parts"]
        self.assertEqual((parts["kills"]["survived"], parts["truth"]["differences"]["before"]), (50, []))

    def test_visits_add_up(self):
        # Of the first visit only what is named counts; the launch loop's pairs do not add up, nor other batches a round.
        first, second = self.result(), self.result()
        second["parts"]["overhead"]["batches"]["after"] = 8
        second["parts"]["examples"] = {"programs": {"workers": {"status": 0, "report_status": 0}}}
        first["commit"], second["commit"] = "0123456789", "abcdef0123"
        paths = [self.folder / name for name in ("1.json", "2.json")]
        for path, data in zip(paths, (first, second)):
            path.write_text(json.dumps(data))
        merged = convert.merge([f"{paths[0]}:overhead,examples", str(paths[1])])
        seconds = merged["parts"]["overhead"]["seconds"]
        self.assertEqual([len(seconds[loop]["ours"]) for loop in ("launch", "fp16", "after")], [7, 14, 7])
        self.assertEqual(len(overhead.pairs(seconds["fp16"], "ours", "plain")), 14)
        self.assertEqual(sorted(merged["parts"]["examples"]["programs"]), ["naive", "workers"])
        self.assertEqual(merged["versions"]["fullwarp, overhead"], "0123456 and abcdef0")
        self.assertEqual(merged["versions"]["fullwarp, kills"], "abcdef0")


if __name__ == "__main__":
    unittest.main()
