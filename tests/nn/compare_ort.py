#!/usr/bin/env python3
"""compare_ort.py NN_RUN_MODEL [--full]: every generated network, small, gives ONNX Runtime's results on the CPU engine:
in three batch sizes, fused and node by node, from poisoned memory, in two threads, with NaN in one sample. --full:
at full size, two samples, fp32 and bf16; for by hand, it takes minutes."""
import pathlib
import sys
import tempfile

import oracle

oracle.need("onnxruntime", "numpy")

import numpy as np  # pylint: disable=wrong-import-position
import onnxruntime  # pylint: disable=wrong-import-position

import engine  # pylint: disable=wrong-import-position
from make_model import make  # pylint: disable=wrong-import-position
from networks import NETWORKS  # pylint: disable=wrong-import-position

# The same kinds of step as others, only more of them: with --full.
LONG = {"resnet34", "resnet101", "resnet152", "vgg11", "vgg16", "vgg16_bn"}
BOUND = 1e-4  # of fp32, as a part of the largest result
SAMPLES = 8
IMAGE = 64


def reference(path, samples):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: samples})[0].reshape(len(samples), -1)


def check(name, what, got, want, bound=BOUND):
    if isinstance(got, str):
        sys.exit(f"{name}, {what}: {got}")
    error = engine.error(got, want)
    if not error <= bound:
        sys.exit(f"{name}, {what}: error {error:.3g}, at most {bound:.3g}")
    return error


def small_network(tool, folder, name):
    path = folder / f"{name}.onnx"
    make(name, path, batch="n", width=0.25, image=IMAGE, classes=40)
    samples = np.random.default_rng(7).standard_normal((SAMPLES, 3, IMAGE, IMAGE)).astype("f4")
    broken = samples.copy()
    broken[1, :, 5, 7] = np.nan
    runs, common = engine.Runs(tool, folder), {"batches": "1,3,8", "poison": 1}
    for batch in (1, 3, 8):
        runs.add(path, samples, batch=batch, **common)
    runs.add(path, samples, batch=3, fuse=0, poison=1, batches=3)
    runs.add(path, samples, batch=3, threads=2, batches=3)
    runs.add(path, broken, batch=8, poison=1, batches=8)
    one, three, eight, split, pair, nan = runs.go()
    want = reference(path, samples)
    worst = max(check(name, f"batch {n}", got, want) for n, got in ((1, one), (3, three), (8, eight)))
    check(name, "node by node", split, want)
    check(name, "batch 3 beside batch 1", three, one, 1e-5)
    check(name, "batch 8 beside batch 1", eight, one, 1e-5)
    check(name, "two threads", pair, three, 0)
    others = np.delete(nan, 1, axis=0) if not isinstance(nan, str) else nan
    check(name, "beside a sample with NaN", others, np.delete(eight, 1, axis=0), 0)
    return worst


def top1(tool, folder):
    """The same class on a thousand inputs."""
    path = folder / "top1.onnx"
    make("resnet18", path, batch="n", width=0.25, image=32, classes=100)
    samples = np.random.default_rng(8).standard_normal((1000, 3, 32, 32)).astype("f4")
    runs = engine.Runs(tool, folder)
    for precision in ("fp32", "bf16"):
        runs.add(path, samples, batch=8, batches=8, precision=precision)
    want = reference(path, samples).argmax(axis=1)
    for precision, got in zip(("fp32", "bf16"), runs.go()):
        if isinstance(got, str):
            if precision == "bf16" and got.startswith("not supported here this CPU has no bf16"):
                print("bf16 is refused:", got)
                continue
            sys.exit(got)
        agree = float((got.argmax(axis=1) == want).mean())
        print(f"top-1 in {precision}: {100 * agree:.1f} % of 1000 inputs as in ONNX Runtime, "
              f"{len(set(want))} classes seen")
        if agree < (0.995 if precision == "fp32" else 0.95):
            sys.exit("too few")


def full_size(tool, folder):
    for name in NETWORKS:
        path = folder / "model.onnx"
        make(name, path, batch="n")
        samples = np.random.default_rng(9).standard_normal((2, 3, 224, 224)).astype("f4")
        runs = engine.Runs(tool, folder)
        for precision in ("fp32", "bf16"):
            runs.add(path, samples, batch=2, batches=2, precision=precision)
        full, half = runs.go()
        want = reference(path, samples)
        error = check(name, "full size", full, want)
        print(f"{name}: fp32 error {error:.2g}, bf16 error "
              f"{half if isinstance(half, str) else engine.error(half, want):.2g}", flush=True)


def main():
    tool = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if "--full" in sys.argv:
            full_size(tool, folder)
            return
        for network in sorted(set(NETWORKS) - LONG):
            print(f"{network}: error {small_network(tool, folder, network):.2g}", flush=True)
        top1(tool, folder)


main()
