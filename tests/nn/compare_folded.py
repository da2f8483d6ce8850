#!/usr/bin/env python3
"""compare_folded.py DUMP_FOLDED [NETWORK...]: ONNX Runtime gives the same results for a generated model as it is and as
it is after folding, at batch sizes that folding did not see; and folding leaves no node that it should not."""
import pathlib
import subprocess
import sys
import tempfile

import oracle

oracle.need("numpy", "onnxruntime")

import numpy as np  # pylint: disable=wrong-import-position
import onnxruntime as ort  # pylint: disable=wrong-import-position

import onnx_writer as w  # pylint: disable=wrong-import-position
from make_model import make  # pylint: disable=wrong-import-position
from networks import NETWORKS  # pylint: disable=wrong-import-position

KINDS = {"float32": w.FLOAT, "int64": w.INT64, "int32": 6, "bool": w.BOOL, "float16": 10, "float64": 11, "uint8": 2,
         "int8": 3, "bfloat16": 16}
GONE = {"Identity", "Dropout", "Constant", "Shape", "Gather", "ConstantOfShape", "Cast", "Sqrt", "Pow"}
DEEP = {"resnet101", "resnet152"}  # resnet50 with more of the same
BATCH = 5


def read_attrs(words):
    attrs = {}
    while words:
        name, kind, count = words[0], int(words[1]), int(words[2])
        items, words = words[3:3 + count], words[3 + count:]
        attrs[name] = {0: lambda x: int(x[0]), 1: lambda x: float(x[0]), 2: lambda x: x[0],
                       3: lambda x: [int(i) for i in x], 4: lambda x: [float(i) for i in x]}[kind](items)
    return attrs


def read_node(words):
    n = int(words[1])
    inputs, words = words[2:2 + n], [words[0], *words[2 + n:]]
    m = int(words[1])
    return w.node(words[0], ["" if i == "-1" else "v" + i for i in inputs],
                  ["v" + o for o in words[2:2 + m]], **read_attrs(words[2 + m:]))


def rebuild(dump, inputs, path):
    """Writes the model that dump shows; the operators in it and the names of its outputs."""
    nodes, weights, ends, ops, outputs, opset = [], [], [], [], [], 0
    for line in dump.splitlines():
        kind, *words = line.split(" ")
        if kind == "opset":
            opset = int(words[0])
        elif kind == "input":
            ends.append(w.value("v" + words[0], inputs))
        elif kind == "output":
            outputs.append(words)
        elif kind == "constant":
            rank = int(words[2])
            weights.append(w.tensor("v" + words[0], [int(d) for d in words[3:3 + rank]], KINDS[words[1]],
                                    bytes.fromhex(words[3 + rank][1:])))
        else:
            nodes.append(read_node(words))
            ops.append(words[0])
    if "LayerNormalization" in ops:
        opset = max(opset, 17)
    # Outputs without a shape, which ONNX Runtime then infers.
    results = [w.chunk(1, "v" + words[0]) + w.chunk(2, w.chunk(1, w.number(1, w.FLOAT))) for words in outputs]
    path.write_bytes(b"".join(w.model(nodes, weights, ends, results, opset)))
    return ops, [words[1] for words in outputs]


def run(path, x):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    # Its own folding must not hide what ours did.
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x})[0]


def compare(tool, name, folder, **options):
    path, again = folder / "model.onnx", folder / "folded.onnx"
    image = options["image"]
    make(name, path, batch="n", classes=10, **options)
    dump = subprocess.run([tool, path], check=True, capture_output=True, text=True).stdout
    ops, names = rebuild(dump, ("n", 3, image, image), again)
    # A transformer's batch stands in shapes of its attention.
    if names != ["output"] or (set(ops) & GONE and not name.startswith("vit")):
        sys.exit(f"{name}: folded, its outputs are {names}, and it still has {set(ops) & GONE}")
    if "BatchNormalization" in ops and not name.startswith("densenet"):
        sys.exit(f"{name}: a batch norm is left")
    x = np.random.default_rng(0).standard_normal((BATCH, 3, image, image)).astype(np.float32)
    expected, got = run(path, x), run(again, x)
    error = float(np.abs(got - expected).max() / np.abs(expected).max())
    print(f"{name} {options}: {len(ops)} nodes, relative error {error:.1e}", flush=True)
    if not error < 1e-4:
        sys.exit(f"{name}: another result than before folding")


def main():
    tool, names = sys.argv[1], sys.argv[2:] or [n for n in NETWORKS if n not in DEEP]
    with tempfile.TemporaryDirectory() as folder:
        for i, name in enumerate(names):
            # A layer norm is one node from opset 17 on only, and before 13 too much differs to write it as 17.
            opsets = (13, 17) if name.startswith("vit") else (9, 13, 17, 18)[i % 4:][:1]
            for opset in opsets:
                compare(tool, name, pathlib.Path(folder), opset=opset, width=0.125, image=64)


main()
