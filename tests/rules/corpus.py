#!/usr/bin/env python3
"""corpus.py FULLWARP CORPUS: what the report must say of recorded loops whose cause is known, since one thing was
changed at a time. Skips where the recordings are absent."""
import json
import pathlib
import subprocess
import sys

# Trace: rules of which one must be the dearest, words of the verdict, rules that must not fire at 5 % or more.
VERDICTS = {
    "h200/before": ({"input-bound"}, "data loader", {"launch-bound"}),
    "h200/workers8": ({"blocking-copy"}, "blocking copies", {"input-bound"}),
    "h200/workers8-pin": ({"host-bound"}, "host to issue work", {"input-bound", "blocking-copy"}),
    "h200/after": ({"host-bound"}, "host to issue work", {"input-bound", "blocking-copy"}),
    "h200/train-item": ({"host-bound"}, "host to issue work", {"input-bound", "explicit-sync"}),
    "h200/train-noitem": ({"host-bound"}, "host to issue work", {"input-bound", "explicit-sync"}),
    "h200/train-fused": ({"host-bound"}, "host to issue work", {"input-bound", "explicit-sync"}),
    "h200/after-compiled": ({"input-bound"}, "data loader", {"blocking-copy"}),
}

# Recordings of a GPU that is full: nothing costs 5 % of the window.
FULL = ("TraceLens/h100__Qwen_Qwen1.5-0.5B-Chat__1016005", "TraceLens/mi300__Qwen_Qwen1.5-0.5B-Chat__1016005",
        "TraceLens/inference__vllm_decode_full__graph_execution")


def problems_of_full(answer):
    problems = [f"{f['id']} costs {f['share']:.1%}" for f in answer["findings"] if (f["share"] or 0) >= 0.05]
    if "no-problem" not in [f["id"] for f in answer["findings"]]:
        problems.append("does not say that there is no problem")
    return problems


def problems_of(answer, want):
    firsts, words, quiet = want
    findings, problems = answer["findings"], []
    if not findings or findings[0]["id"] not in firsts:
        problems.append(f"the dearest finding is {findings[0]['id'] if findings else 'none'}")
    if words not in answer.get("verdict", words):
        problems.append(f"the verdict does not speak of the {words}: {answer['verdict']}")
    costs = [f["cost_ns"] for f in findings]
    if costs != sorted(costs, reverse=True):
        problems.append(f"not ranked by cost: {costs}")
    for f in findings:
        if f["id"] in quiet and f["share"] >= 0.05:
            problems.append(f"{f['id']} costs {f['share']:.1%}")
        if f["at_most_ns"] is not None and not 0 <= f["at_most_ns"] <= f["cost_ns"]:
            problems.append(f"{f['id']}: at most {f['at_most_ns']} of {f['cost_ns']} ns")
    return problems


def main():
    fullwarp, traces = sys.argv[1], pathlib.Path(sys.argv[2]) / "traces"
    if not (traces / "h200").is_dir():
        print(f"skipped: {traces}/h200 is not here")
        sys.exit(77)
    failed = 0
    for name in (*VERDICTS, *FULL):
        run = subprocess.run([fullwarp, "report", "--format", "json", str(traces / f"{name}.json.gz")],
                             capture_output=True, text=True, check=True)
        answer = json.loads(run.stdout)
        problems = problems_of(answer, VERDICTS[name]) if name in VERDICTS else problems_of_full(answer)
        failed += bool(problems)
        print(f"{name:70} {'; '.join(problems) or 'ok'}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
