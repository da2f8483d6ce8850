"""Drives nn_run_model: many runs of models in one process, results as arrays."""
import pathlib
import subprocess

import numpy as np


class Runs:
    """Runs queued with add(), executed by go()."""

    def __init__(self, tool, folder):
        self.tool, self.folder, self.lines, self.outputs = tool, pathlib.Path(folder), [], []

    def add(self, model, samples, **options):
        """samples: an array whose first axis counts them. Returns the run's number."""
        at = len(self.lines)
        source, target = self.folder / f"{at}.in", self.folder / f"{at}.out"
        np.ascontiguousarray(samples, dtype="<f4").tofile(source)
        words = [str(model), str(source), str(target), *(f"{k}={v}" for k, v in options.items())]
        self.lines.append("\t".join(words))
        self.outputs.append((target, len(samples)))
        return at

    def go(self):
        """For each run: the array of results (samples, values), or a string with the error."""
        done = subprocess.run([self.tool], input="\n".join(self.lines) + "\n", capture_output=True, text=True)
        said = done.stdout.splitlines()
        if done.returncode or len(said) != len(self.lines):
            raise SystemExit(f"{self.tool} ended with {done.returncode} after {len(said)} of {len(self.lines)} runs; "
                             f"then: {self.lines[min(len(said), len(self.lines) - 1)]}\n{done.stderr[-2000:]}")
        results = []
        for (target, n), line in zip(self.outputs, said):
            good = line.startswith("ok ")
            results.append(np.fromfile(target, "<f4").reshape(n, -1) if good else line)
        self.lines, self.outputs = [], []
        return results


def error(got, want):
    """The largest difference as a part of the largest expected value; NaN and infinity must stand where expected."""
    got, want = np.asarray(got, "f8").ravel(), np.asarray(want, "f8").ravel()
    if got.shape != want.shape or not np.array_equal(np.isfinite(got), np.isfinite(want)):
        return np.inf
    finite = np.isfinite(want)
    if not finite.any():
        return 0.0
    scale = np.abs(want[finite]).max()
    return float(np.abs(got - want)[finite].max() / scale) if scale else float(np.abs(got[finite]).max())
