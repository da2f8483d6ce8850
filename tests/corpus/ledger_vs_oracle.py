#!/usr/bin/env python3
"""ledger_vs_oracle.py FULLWARP: `report --all` equals the ledger contract in Python, class by class, to the nanosecond.

The contract in Python is ledger_oracle.py of the corpus: written to be read, by others, from the same words. Every well-formed
Kineto trace of the corpus is compared, device by device. Exit 77: the corpus is not there."""
import json
import os
import pathlib
import subprocess
import sys

from groundtruth import is_well_formed


def read_report(program, path):
    """{device id: (window, {class: ns})}, classes without time left out; None and the message if there is no report."""
    run = subprocess.run([program, "report", "--all", "--format", "json", str(path)], capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr.strip()
    devices = {}
    for device in json.loads(run.stdout)["devices"]:
        classes = {row["class"]: row["ns"] for row in device["ledger"] if row["ns"]}
        devices[str(device["id"])] = (device["window"]["duration_ns"], classes)
    return devices, ""


def differences(ours, theirs):
    """Lines that say where two sets of devices differ."""
    for device in sorted(set(ours) | set(theirs)):
        if device not in ours or device not in theirs:
            yield f"device {device}: only {'the oracle' if device in theirs else 'the report'} has it"
            continue
        (window, classes), (expected_window, expected) = ours[device], theirs[device]
        if window != expected_window:
            yield f"device {device}: window {window} ns, expected {expected_window}"
        for name in sorted(set(classes) | set(expected)):
            if classes.get(name, 0) != expected.get(name, 0):
                yield f"device {device}: {name} {classes.get(name, 0)} ns, expected {expected.get(name, 0)}"


def main():
    program = sys.argv[1]
    root = pathlib.Path(__file__).resolve().parents[2]
    corpus = pathlib.Path(os.environ.get("FW_CORPUS", root.parent / "shared" / "corpus"))
    if not (corpus / "ledger_oracle.py").is_file():
        print(f"skipped: no ledger_oracle.py in {corpus}")
        return 77
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(corpus))
    import ledger_oracle
    traces = devices = failed = 0
    for path in sorted((corpus / "traces").glob("**/*.json*")):
        name = str(path.relative_to(corpus / "traces"))
        if not is_well_formed(name):
            continue
        theirs = {device: (window, classes) for device, window, classes in ledger_oracle.ledger(str(path))}
        ours, message = read_report(program, path)
        if ours is None:
            # A trace without GPU operations has no ledger; the report may refuse it.
            found = [f"no report: {message}"] if theirs else []
        else:
            found = list(differences(ours, theirs))
        traces += 1
        devices += len(theirs)
        failed += bool(found)
        for line in found:
            print(f"{name}: {line}")
    print(f"{traces} traces, {devices} devices, {failed} traces differ")
    return 1 if failed or not devices else 0


if __name__ == "__main__":
    sys.exit(main())
