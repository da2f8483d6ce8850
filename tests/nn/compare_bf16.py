#!/usr/bin/env python3
"""compare_bf16.py NN_RUN_MODEL: in bf16 the CPU engine is at most three times as far from ONNX Runtime's fp32 as PyTorch
in bf16 on the same CPU is, and names the same class as often. Skipped where the CPU has no bf16."""
import json
import pathlib
import subprocess
import sys
import tempfile

import oracle

oracle.need("onnx", "onnxruntime", "numpy")

import numpy as np  # pylint: disable=wrong-import-position
import onnx  # pylint: disable=wrong-import-position
import onnxruntime  # pylint: disable=wrong-import-position

import engine  # pylint: disable=wrong-import-position
from make_model import make  # pylint: disable=wrong-import-position

TORCH = "/usr/bin/python3"  # Debian's, with python3-torch
TIMES = 3
# Name, width, image, samples; the first for the top-1 of a thousand.
CASES = (("resnet18", 0.25, 32, 1000), ("resnet50", 0.25, 64, 8), ("mobilenet_v2", 0.25, 64, 8),
         ("squeezenet1_1", 0.5, 64, 8), ("vgg11_bn", 0.25, 64, 8), ("densenet121", 0.25, 64, 8))


def describe(path, folder):
    graph = onnx.load(path).graph
    nodes = [{"op": n.op_type, "inputs": list(n.input), "output": n.output[0],
              "attrs": {a.name: onnx.helper.get_attribute_value(a) for a in n.attribute}} for n in graph.node]
    weights = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
    for node in [n for n in nodes if n["op"] == "Constant"]:
        weights[node["output"]] = onnx.numpy_helper.to_array(node["attrs"]["value"])
    kept = [n for n in nodes if n["op"] != "Constant"]
    for node in kept:
        node["attrs"] = {k: v for k, v in node["attrs"].items() if not isinstance(v, bytes)}
    np.savez(folder / "weights.npz", **{k: v.astype("f4") for k, v in weights.items()})
    (folder / "graph.json").write_text(json.dumps(
        {"input": graph.input[0].name, "output": graph.output[0].name, "nodes": kept}))


def fp32(path, samples):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: samples})[0].reshape(len(samples), -1)


def framework(folder, samples):
    np.save(folder / "samples.npy", samples)
    subprocess.run([TORCH, pathlib.Path(__file__).with_name("torch_bf16.py"), folder], check=True)
    return np.load(folder / "torch.npy")


def case(tool, folder, name, width, image, count):
    path = folder / f"{name}.onnx"
    make(name, path, batch="n", width=width, image=image, classes=100)
    samples = np.random.default_rng(3).standard_normal((count, 3, image, image)).astype("f4")
    runs = engine.Runs(tool, folder)
    runs.add(path, samples, batch=8, batches=8, precision="bf16", poison=1)
    ours = runs.go()[0]
    if isinstance(ours, str):
        print("skipped:", ours)
        sys.exit(77 if "has no bf16" in ours else 1)
    describe(path, folder)
    want, theirs = fp32(path, samples), framework(folder, samples)
    scale = np.abs(want).max()
    errors = [float(np.sqrt(np.mean((x - want) ** 2)) / scale) for x in (ours, theirs)]
    same = [100 * float((x.argmax(1) == want.argmax(1)).mean()) for x in (ours, theirs)]
    print(f"{name}: error {errors[0]:.2g}, PyTorch's {errors[1]:.2g}; top-1 as in fp32 {same[0]:.1f} %, "
          f"PyTorch's {same[1]:.1f} %", flush=True)
    if errors[0] > TIMES * errors[1] or (count >= 1000 and same[0] < same[1] - 0.5):
        sys.exit(f"{name}: less exact than that allows")


def main():
    found = subprocess.run([TORCH, "-c", "import torch, numpy"], capture_output=True, check=False)
    if found.returncode:
        print(f"skipped: {TORCH} has no torch (Debian: python3-torch)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for one in CASES:
            case(sys.argv[1], pathlib.Path(folder), *one)


main()
