#!/usr/bin/env python3
"""ledger_vs_oracle.py REPORTS: `report --all` equals the ledger contract in Python, class by class, to the nanosecond.

The contract in Python is ledger_oracle.py of the corpus: written to be read, by others, from the same words. Every well-formed
Kineto trace of the corpus is compared, device by device. Exit 77: the corpus is not there."""
import gc
import sys

from reports import corpus, read_report, well_formed


def ledgers(report):
    """{device id: (window, {class: ns})}, classes without time left out."""
    return {str(device["id"]): (device["window"]["duration_ns"],
                                {row["class"]: row["ns"] for row in device["ledger"] if row["ns"]})
            for device in report["devices"]}


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
    folder = sys.argv[1]
    if not (corpus() / "ledger_oracle.py").is_file():
        print(f"skipped: no ledger_oracle.py in {corpus()}")
        return 77
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(corpus()))
    import ledger_oracle
    gc.disable()  # a trace is millions of objects without a cycle: looking for one takes a quarter of the time
    traces = devices = failed = 0
    for name in well_formed():
        path = corpus() / "traces" / name
        theirs = {device: (window, classes) for device, window, classes in ledger_oracle.ledger(str(path))}
        report, message = read_report(folder, name)
        if report is None:
            # A trace without GPU operations has no ledger; the report may refuse it.
            found = [f"no report: {message}"] if theirs else []
        else:
            found = list(differences(ledgers(report), theirs))
        traces += 1
        devices += len(theirs)
        failed += bool(found)
        for line in found:
            print(f"{name}: {line}")
    print(f"{traces} traces, {devices} devices, {failed} traces differ")
    return 1 if failed or not devices else 0


if __name__ == "__main__":
    sys.exit(main())
