#!/usr/bin/env python3
"""convert.py COMMIT RECORD.json[:PART,PART]... >bench/results/record-h200.json: the result file out of what parts.py brought
back from one visit or several, of each all parts or those named. Of a part measured twice the later counts, but programs
and the pairs of the loops add up."""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent.parent / "bench/record")]
import counters  # noqa: E402
import ddp  # noqa: E402
import examples  # noqa: E402
import kills  # noqa: E402
import launch  # noqa: E402
import overhead  # noqa: E402
import selfprofile  # noqa: E402
import shim  # noqa: E402
import smoke  # noqa: E402
import soak  # noqa: E402
import truth  # noqa: E402

ROWS = {"truth": truth.rows, "counters": counters.rows, "overhead": overhead.rows, "kills": kills.rows,
        "soak": soak.rows, "ddp": ddp.rows, "examples": examples.rows, "breaks": shim.rows, "smoke": smoke.rows,
        "selfprofile": selfprofile.rows, "launch": launch.rows}
RSS_SLOPE_BYTES_S = (1 << 20) / 60  # 1 MiB a minute


def good_parts(data):
    return {name: part for name, part in data["parts"].items() if "error" not in part}


def all_rows(data):
    return [row for name, part in good_parts(data).items() if name in ROWS for row in ROWS[name](part)]


def target(name, op, limit, measured, why):
    met = measured is not None and (measured <= limit if op == "<=" else measured >= limit)
    return {"name": name, "op": op, "target": limit, "measured": measured, "met": met, "why": "" if met else why}


def why_truth(part):
    wrong = [f"{name}: {found[0]}" for name, found in part["differences"].items() if found]
    wrong += [f"{name}: busy time off by {busy:.1f} %" if busy is not None else f"{name}: busy time not compared"
              for name, busy in part["busy_error_percent"].items() if busy is None or busy > truth.BUSY_PERCENT]
    return "; ".join(wrong)[:600]


def soak_slope(part):
    slopes = [part.get(f"slope_{name}") for name in ("program", "recorder")]
    return None if None in slopes else max(slopes)


def all_targets(data):
    parts, found = good_parts(data), []
    if "truth" in parts:
        found.append(target("record_truth_differences", "<=", 0, truth.differences(parts["truth"]),
                            why_truth(parts["truth"])))
    if "counters" in parts:
        worst = counters.worst(parts["counters"])
        found.append(target("counter_error_points", "<=", 5, worst, "not all kernels were compared" if worst is None
                            else "see the rows of the kernels, ours and ncu's"))
    if "overhead" in parts:
        for judge, limit in ((overhead.judge_launch, 1.05), (overhead.judge_loops, 2)):
            name, measured, why = judge(parts["overhead"])
            found.append(target(name, "<=", limit, measured, why or "see the rows of the pairs"))
    if "kills" in parts:
        kept = parts["kills"]
        found.append(target("kills_survived", ">=", kept["runs"], kept["survived"], "; ".join(kept["problems"])[:600]))
    if "soak" in parts:
        found.append(target("rss_slope_bytes_s", "<=", RSS_SLOPE_BYTES_S, soak_slope(parts["soak"]),
                            "see the rows of the soak"))
    return found


def read(argument):
    """A visit's results, of the parts that are named behind the path; each part with its build."""
    path, _, names = argument.partition(":")
    data = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    data["parts"] = {k: v for k, v in data["parts"].items() if not names or k in names.split(",")}
    build = data.get("commit") or "unknown"
    data["versions"] = {**data.get("versions", {}), **{f"fullwarp, {part}": build[:7] for part in good_parts(data)}}
    return data


def pool(loops, batches, before):
    """Pairs of an earlier visit beside a later one's, where a round is as long; cycles keep their order. Those of the
    launch loop do not add up: its cores changed."""
    for loop, runs in loops.items():
        if loop == "launch" or before["batches"].get(loop) != batches.get(loop):
            continue
        for name, times in before["seconds"].get(loop, {}).items():
            # Twins take every second cycle, so that an even number keeps whose turn it was.
            shifted = {str(int(cycle) + 1000): took for cycle, took in runs.get(name, {}).items()}
            runs[name] = {**times, **shifted}


def join(part, before, after):
    if "programs" in after:
        return {**after, "programs": {**before.get("programs", {}), **after["programs"]}}
    if part == "overhead":
        pool(after["seconds"], after["batches"], before)
    return after


def merge(arguments):
    merged = None
    for data in map(read, arguments):
        if merged is None:
            merged = data
            continue
        for part, found in good_parts(data).items():
            before = merged["parts"].get(part, {"error": ""})
            merged["parts"][part] = found if "error" in before else join(part, before, found)
            if part == "overhead":
                data["versions"]["fullwarp, overhead"] = " and ".join(
                    v["versions"]["fullwarp, overhead"] for v in (merged, data) if "fullwarp, overhead" in v["versions"])
        merged["versions"].update(data["versions"])
    return merged


def main():
    data = merge(sys.argv[2:])
    cores = data.get("cores")
    result = {"schema": 1, "what": "record", "machine": f"x86-64, {cores} virtual CPUs, shared", "gpu": data["gpu"],
              "driver": data["driver"], "versions": data.get("versions", {}), "commit": sys.argv[1], "date": data["date"],
              "rows": all_rows(data), "targets": all_targets(data)}
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    sys.exit(main())
