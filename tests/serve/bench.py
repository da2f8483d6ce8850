#!/usr/bin/env python3
"""bench.py FULLWARP_SERVE: what `fullwarp-serve bench` prints adds up, in the CPU's engine and a small model."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
QUICK = ["--synthetic", "64x48", "--pictures", "6", "--seconds", "0.12", "--warmup", "0.02", "--repeats", "2"]
SERVE = None


def bench(*args, code=0):
    run = subprocess.run([SERVE, "bench", "m.onnx", "--engine", "onednn", *args], capture_output=True, text=True, check=False, timeout=100)
    assert run.returncode == code, (args, run)
    return run


def result(*args, code=0):
    return json.loads(bench(*args, "--format", "json", code=code).stdout)


def adds_up(run):
    """What holds for every load."""
    repeats = run["repeats"]
    for key in ("classified", "failed", "expired", "arrived", "refused"):
        assert run[key] == sum(r[key] for r in repeats), key
    rates = sorted(r["classified"] / r["seconds"] for r in repeats)
    assert abs(run["images_s"] - (rates[(len(rates) - 1) // 2] + rates[len(rates) // 2]) / 2) <= 1e-6 * rates[-1]
    assert abs(run["images_s_min"] - rates[0]) <= 1e-6 * rates[0] and abs(run["images_s_max"] - rates[-1]) <= 1e-6 * rates[-1]
    assert run["latency_ms"]["count"] == run["classified"] == run["stages_ms"]["compute"]["count"]
    latency = [run["latency_ms"][q] for q in ("p50", "p90", "p99", "p99.9", "max")]
    known = [x for x in latency if x is not None]
    assert known == sorted(known) and latency[4] is not None
    assert (latency[3] is None) == (run["classified"] < 1000)
    # A request is in one stage at a time, and nowhere else.
    assert sum(s["mean"] for s in run["stages_ms"].values()) <= run["latency_ms"]["mean"] * 1.001
    assert 0 < run["cpu_cores"] <= os.cpu_count() + 0.5
    assert run["rss_max_bytes"] >= run["rss_start_bytes"] > 1e6
    assert all(v["value"] is None and v["note"] for v in run["gpu"].values())


def closed_then_open():
    all_of_it = result(*QUICK, "--load", "20,60", "--in-flight", "9", "--rss", "rss.csv")
    assert (all_of_it["images"]["count"], all_of_it["images"]["drawn_width"], all_of_it["stopped"]) == (6, 64, False)
    assert all_of_it["ready_ms"] > 0 and all_of_it["first_request_ms"] > 0
    closed, *loads = all_of_it["runs"]
    for run in all_of_it["runs"]:
        adds_up(run)
        assert run["failed"] == 0 and len(run["repeats"]) == 2
        assert all(0.1 < r["seconds"] < 0.5 for r in run["repeats"])
    assert (closed["loop"], closed["in_flight"]) == ("closed", 9)
    # Little's law: what is inside = rate x time inside, within what is lost at the ends of so short a run.
    inside = closed["classified"] / sum(r["seconds"] for r in closed["repeats"]) * closed["latency_ms"]["mean"] / 1e3
    assert 9 * 0.6 < inside < 9 * 1.6, inside
    for run, percent in zip(loads, (20, 60)):
        assert (run["loop"], run["load_percent"]) == ("open", percent)
        assert abs(run["arrivals_s"] - percent / 100 * closed["images_s"]) < 1e-5 * closed["images_s"]
        assert run["arrived"] == run["refused"] + run["classified"]
        assert run["sent_late_ms"]["count"] == run["arrived"] > 0
    lines = pathlib.Path("rss.csv").read_text().splitlines()
    assert lines[0] == "seconds,rss_bytes" and len(lines) >= 4
    assert all(int(line.split(",")[1]) > 1e6 for line in lines[1:])


def too_much_is_refused_and_late_ones_expire():
    run, = result(*QUICK, "--rate", "20000", "--slots", "4", "--batch", "2")["runs"]
    adds_up(run)
    assert run["refused"] > 0 and run["arrived"] == run["refused"] + run["classified"]
    run, = result(*QUICK, "--rate", "3000", "--slots", "500", "--timeout", "1ms")["runs"]
    assert run["expired"] > 0 and run["arrived"] == run["refused"] + run["classified"] + run["expired"]


def text_says_it_too():
    run = bench(*QUICK, "--rate", "50")
    for word in ("m.onnx: onednn, fp32, ", "drawn 64x48", "open loop, 50.0 arrivals/s: 2 x 0.12 s after 0.02 s", "images/s", "p99.9 ?",
                 "sent late by", "queue", "mean 1.", "of %d cores" % len(os.sched_getaffinity(0)), "RSS"):
        assert word in run.stdout, (word, run.stdout)
    assert "preparing" in run.stderr


def files_are_taken_as_they_are():
    """A file that is no image fails each time that it is its turn; one that cannot be read is left out."""
    os.mkdir("in")
    good = bench_picture()
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        pathlib.Path("in", name).write_bytes(good)
    pathlib.Path("in/cut.jpg").write_bytes(good[:len(good) // 2])
    pathlib.Path("in/text.png").write_bytes(b"no image")
    all_of_it = result("in", "absent\x1b.jpg", *QUICK[4:])
    assert all_of_it["images"]["count"] == 5 and all_of_it["images"]["unreadable"] == 1
    run, = all_of_it["runs"]
    adds_up(run)
    assert run["failure"] and 0.25 < run["failed"] / (run["failed"] + run["classified"]) < 0.55
    run = bench("in", "absent\x1b.jpg", *QUICK[4:], "--quiet")
    text = run.stdout
    assert not run.stderr
    assert "1 files could not be read: absent?.jpg: " in text and "failed" in text
    none = bench("in/text.png", *QUICK[4:], code=1)
    assert "no image could be classified" in none.stderr and not none.stdout
    assert "no image could be read: absent: " in bench("absent", code=1).stderr
    assert "more than 100 bytes" in bench("in", "--max-input", "100", code=1).stderr


def bench_picture():
    """A picture of its own, through another program than ours where there is one."""
    from PIL import Image  # Debian's, as classify.py has it
    Image.linear_gradient("L").convert("RGB").resize((64, 48)).save("one.jpg")
    return pathlib.Path("one.jpg").read_bytes()


def stops_when_told():
    for warm_up in ("0", "60"):
        run = subprocess.Popen([SERVE, "bench", "m.onnx", "--engine", "onednn", *QUICK[:4], "--seconds", "60", "--warmup", warm_up, "--load", "50",
                                "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert "preparing" in run.stderr.readline() and "closed loop" in run.stderr.readline()
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=20)
        assert run.returncode == 1
        stopped = json.loads(out)
        assert stopped["stopped"] and len(stopped["runs"]) == 1 and stopped["runs"][0]["stopped"]
        assert len(stopped["runs"][0]["repeats"]) == (warm_up == "0")
        if warm_up == "0":
            adds_up(stopped["runs"][0])
            assert stopped["runs"][0]["classified"] > 0


def steps_go_from_before_to_after():
    all_of_it = result(*QUICK, "--steps")
    steps = {s["step"][:2]: s for s in all_of_it["steps"]}
    assert list(steps) == ["be", "A1", "A2", "A3", "A4", "B1", "B2", "B3", "C1"] and not all_of_it["stopped"]
    assert {k for k, s in steps.items() if not s["left_out"]} == {"be", "A1", "B1"}
    assert all("of a GPU only" in s["left_out"] for k, s in steps.items() if k not in ("be", "A1", "B1"))
    before, workers, fused = steps["be"], steps["A1"], steps["B1"]
    cores = len(os.sched_getaffinity(0))
    for step, n, fuse in ((before, 1, False), (workers, cores, False), (fused, cores, True)):
        assert (step["pipeline"]["workers"], step["pipeline"]["fuse"]) == (n, fuse), step["pipeline"]
        adds_up(step["runs"][0])
    assert before["gain"] is None
    for one, other in ((before, workers), (workers, fused)):
        assert abs(other["gain"] - other["runs"][0]["images_s"] / one["runs"][0]["images_s"]) < 1e-5 * other["gain"]
    # The lines that a remedy costs are those that the page writes out.
    code = (HERE.parents[1] / "docs/serve-bench.md").read_text().split("```python\n")[1].split("```")[0]
    counted = {block[:2]: block.count("\n") - 1 for block in code.split("# ")[1:]}
    assert counted == {k: s["lines"] for k, s in steps.items() if k != "be"}, counted


def refuses():
    for args, what in ((["--in-flight", "51", "--slots", "50"], "51 in flight are more than the pipeline's 50 slots"),
                       (["--engine", "magic"], "engine is 'magic'")):
        assert what in bench(*QUICK, *args, code=1).stderr, what


def main():
    global SERVE  # pylint: disable=global-statement
    SERVE = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        subprocess.run([sys.executable, "-B", str(HERE.parent / "nn/make_model.py"), "resnet18", "--width", "0.125", "--image",
                        "32", "--classes", "10", "--dynamic", "-o", "m.onnx"], check=True)
        probe = subprocess.run([SERVE, "bench", "m.onnx", *QUICK], capture_output=True, text=True, check=False)
        if "not built in" in probe.stderr or "left out" in probe.stderr:
            print("skipped:", probe.stderr.strip())
            sys.exit(77)
        closed_then_open()
        too_much_is_refused_and_late_ones_expire()
        text_says_it_too()
        files_are_taken_as_they_are()
        stops_when_told()
        steps_go_from_before_to_after()
        refuses()
        os.chdir("/")


if __name__ == "__main__":
    main()
