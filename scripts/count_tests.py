#!/usr/bin/env python3
"""Adds up CTest's JUnit files, says why tests were skipped, and ends with the line 'N passed, N failed, N skipped'.
A test that could not be started has failed, and so has a file that is not there."""
import argparse
import os
import sys
import xml.etree.ElementTree


def judge(case):
    """('passed', 'failed' or 'skipped') and, for a skipped one, the last line it printed."""
    status = case.get("status")
    if status == "run":
        return "passed", ""
    message = (case.find("skipped").get("message") or "") if case.find("skipped") is not None else ""
    if status == "disabled" or message.startswith("SKIP_"):
        said = (case.findtext("system-out") or "").strip().splitlines()
        return "skipped", said[-1] if said else "without a word"
    return "failed", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--broken", type=int, default=0, help="builds that failed: each counts as a failed test")
    parser.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args()
    counts = {"passed": 0, "failed": options.broken, "skipped": 0}
    for name in options.files:
        run = os.path.basename(os.path.dirname(os.path.abspath(name)))
        try:
            cases = xml.etree.ElementTree.parse(name).getroot().iter("testcase")
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            print(f"{name}: {error}")
            counts["failed"] += 1
            continue
        for case in cases:
            verdict, why = judge(case)
            counts[verdict] += 1
            if verdict == "failed":
                print(f"failed in {run}: {case.get('name')}")
            elif verdict == "skipped":
                print(f"skipped in {run}: {case.get('name')}: {why.removeprefix('skipped: ')}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped", flush=True)
    sys.exit(bool(counts["failed"] or not counts["passed"]))


if __name__ == "__main__":
    main()
