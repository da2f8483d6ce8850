#!/usr/bin/env python3
"""check.py FULLWARP RULE: makes the traces of tests/rules/RULE/scenario.py, reports them, and compares what the rule
says with what the scenario's hand calculation says. EXPECT names for each scenario:

fires        whether the rule fires (default true)
cost_us      its cost; tolerance: the relative error allowed (default 0.5 %, at least 2 us)
at_most_us   (least, most) of its bound
first        it is the dearest finding
says         texts that stand somewhere in the finding
never        texts that must not
verdict_never  a text that the verdict must not hold
unable       the rule says that it could not look; part of what it lacks
arguments    for `fullwarp report` (default --all)
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import make_trace


def report(binary, made, folder, arguments):
    files = []
    for number, trace in enumerate(made if isinstance(made, list) else [made]):
        path = pathlib.Path(folder) / f"trace{number}.json"
        trace.write(path)
        files.append(str(path))
    run = subprocess.run([binary, "report", *arguments, "--format", "json", *files], capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"fullwarp report failed ({run.returncode}): {run.stderr}")
    return json.loads(run.stdout)


def check_finding(findings, mine, want):
    """What is wrong with the dearest finding of the rule."""
    cost, bound, problems = mine["cost_ns"], mine["at_most_ns"], []
    text = json.dumps(mine, ensure_ascii=False)
    if "cost_us" in want:
        expected = want["cost_us"] * 1000
        if abs(cost - expected) > max(2000, want.get("tolerance", 0.005) * expected):
            problems.append(f"cost {cost / 1000} us, by hand {want['cost_us']} us")
    if bound is not None and bound > cost:
        problems.append(f"at most {bound} ns is more than the cost, {cost} ns")
    if "at_most_us" in want:
        low, high = want["at_most_us"]
        if not low * 1000 <= bound <= high * 1000:
            problems.append(f"at most {bound / 1000} us, by hand {low} to {high} us")
    if want.get("first") and findings[0] is not mine:
        problems.append(f"the dearest finding is {findings[0]['id']}")
    problems += [f"does not say '{t}': {text}" for t in want.get("says", ()) if json.dumps(t)[1:-1] not in text]
    problems += [f"says '{t}'" for t in want.get("never", ()) if json.dumps(t)[1:-1] in text]
    problems += ["no change is proposed"] if not mine["change"] else []
    return problems


def check(rule, answer, want):
    mine = [f for f in answer["findings"] if f["id"] == rule]
    fires = want.get("fires", True)
    if "unable" in want:
        rows = [u["lacks"] for u in answer["unable"] if u["id"] == rule]
        if not any(want["unable"] in row for row in rows):
            return [f"does not say that it lacks '{want['unable']}': {rows}"]
        return ["fires, and says that it could not look"] if mine else []
    if not fires:
        return [f"fires: {json.dumps(mine[0])}"] if mine else []
    if want.get("verdict_never", "\n") in answer["verdict"]:
        return [f"the verdict: {answer['verdict']}"]
    return check_finding(answer["findings"], mine[0], want) if mine else [f"does not fire: {[f['id'] for f in answer['findings']]}"]


def main():
    binary, rule = sys.argv[1:3]
    module, failed = make_trace.load_scenarios(rule), 0
    for name, want in module.EXPECT.items():
        with tempfile.TemporaryDirectory() as folder:
            answer = report(binary, getattr(module, name)(), folder, want.get("arguments", ["--all"]))
        problems = check(rule, answer, want)
        failed += bool(problems)
        state = "could not look" if "unable" in want else "fires" if want.get("fires", True) else "quiet"
        print(f"{rule:20} {name:32} {state:16} {'ok' if not problems else 'FAILED'}")
        for problem in problems:
            print(f"    {problem}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
