#!/usr/bin/env python3
"""check.py GPU_NN WORK PART...: the cudnn engine against ONNX Runtime on the CPU (fp32) and PyTorch's half precision.
Writes WORK/check.json and a table; exits 1 if anything is past its bound."""
import json
import pathlib
import sys
import time

import numpy
import onnx
import onnxruntime
import torch

from child import Engine

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "nn"))
from make_model import make  # noqa: E402
from networks import NETWORKS as KNOWN  # noqa: E402

# Inputs for each network.
NETWORKS = {"resnet50": 1000, "mobilenet_v2": 1000, "squeezenet1_1": 64, "vgg11_bn": 16, "resnext50_32x4d": 64, "resnet18": 64,
            "densenet121": 16, "efficientnet_b0": 16, "mobilenet_v3_large": 16, "vit_b_16": 16}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
rows = []


def note(name, value, bound, good):
    rows.append({"name": name, "value": float(value), "bound": bound, "good": bool(good)})
    print(f"{'ok  ' if good else 'FAIL'} {name:58s} {value:.3e}  {bound}", flush=True)


def reference(path, x):
    options = onnxruntime.SessionOptions()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return numpy.concatenate([session.run(None, {name: x[i:i + 32]})[0] for i in range(0, len(x), 32)])


def run(engine, folder, batch, x):
    source, target = folder / "in.f32", folder / "out.f32"
    x.astype(numpy.float32).tofile(source)
    engine.ask(f"run {batch} {len(x)} {source} {target}")
    return numpy.fromfile(target, dtype=numpy.float32).reshape(len(x), -1)


def error(a, b):
    """Largest difference over the largest value of the reference, of each sample the worst."""
    return float(numpy.max(numpy.max(numpy.abs(a - b), axis=1) / numpy.max(numpy.abs(b), axis=1)))


class Interpreter:
    """An ONNX file run by PyTorch node for node, for its own error in half precision."""

    def __init__(self, path, dtype):
        graph = onnx.load(str(path)).graph
        self.graph, self.dtype = graph, dtype
        self.constants = {t.name: torch.tensor(onnx.numpy_helper.to_array(t).copy()).to(DEVICE) for t in graph.initializer}
        self.constants = {k: v.to(dtype) if v.is_floating_point() else v for k, v in self.constants.items()}

    def node(self, node, v):
        a = {x.name: onnx.helper.get_attribute_value(x) for x in node.attribute}
        x = [v[i] if i else None for i in node.input]
        f = torch.nn.functional
        kind = node.op_type
        if kind == "Conv":
            pads = a.get("pads", [0, 0, 0, 0])
            return f.conv2d(f.pad(x[0], (pads[1], pads[3], pads[0], pads[2])), x[1], x[2] if len(x) > 2 else None,
                            a.get("strides", [1, 1]), 0, a.get("dilations", [1, 1]), a.get("group", 1))
        if kind == "BatchNormalization":
            return f.batch_norm(x[0], x[3], x[4], x[1], x[2], False, 0.0, a.get("epsilon", 1e-5))
        if kind == "MaxPool":
            return f.max_pool2d(x[0], a["kernel_shape"], a.get("strides", 1), a.get("pads", [0])[0],
                                ceil_mode=bool(a.get("ceil_mode", 0)))
        if kind == "AveragePool":
            return f.avg_pool2d(x[0], a["kernel_shape"], a.get("strides", 1), a.get("pads", [0])[0])
        if kind == "Clip":
            return torch.clamp(x[0], float(x[1]), float(x[2])) if len(x) > 2 else torch.clamp(x[0], a["min"], a["max"])
        if kind == "Gemm":
            return f.linear(x[0], x[1] if a.get("transB", 0) else x[1].t(), x[2])
        simple = {"Relu": torch.relu, "Add": torch.add, "GlobalAveragePool": lambda t: t.mean((2, 3), keepdim=True),
                  "Flatten": lambda t: t.flatten(1), "Concat": lambda *t: torch.cat(t, a.get("axis", 1)),
                  "HardSwish": f.hardswish, "HardSigmoid": lambda t: torch.clamp(t * a.get("alpha", 0.2) + a.get("beta", 0.5), 0, 1),
                  "Sigmoid": torch.sigmoid, "Mul": torch.mul, "Identity": lambda t: t, "Dropout": lambda t, *_: t, "Softmax": lambda t: torch.softmax(t, -1)}
        if kind in simple:
            return simple[kind](*x)
        raise NotImplementedError(kind)

    @torch.no_grad()
    def __call__(self, x):
        v = dict(self.constants)
        inputs = [i.name for i in self.graph.input if i.name not in v]
        v[inputs[0]] = torch.tensor(x).to(DEVICE).to(self.dtype)
        for node in self.graph.node:
            v[node.output[0]] = self.node(node, v)
        return v[self.graph.output[0].name].float().cpu().numpy().reshape(len(x), -1)


def agreement(a, b):
    return float(numpy.mean(numpy.argmax(a, 1) == numpy.argmax(b, 1)))


def check_network(program, folder, name, count):
    path = folder / f"{name}.onnx"
    if not path.exists():
        make(name, path, batch="batch_size")
    x = numpy.random.default_rng(7).standard_normal((count, 3, 224, 224), dtype=numpy.float32)
    start = time.time()
    few = min(count, 64)
    want = reference(path, x[:few])
    print(f"     {name}: ONNX Runtime {time.time() - start:.1f} s", flush=True)
    log = open(folder / f"{name}.log", "w")
    exact = Engine(program, str(path), "--precision", "fp32", "--batches", "1,32", "--autotune", "2", log=log)
    whole = run(exact, folder, 32, x)
    one = run(exact, folder, 1, x[:4])
    exact.close()
    note(f"{name} fp32 error against ONNX Runtime", error(whole[:few], want), "< 1e-4", error(whole[:few], want) < 1e-4)
    note(f"{name} fp32 batch 1 against 32", error(one, whole[:4]), "< 1e-4", error(one, whole[:4]) < 1e-4)
    other = Engine(program, str(path), "--engine", "onednn", "--precision", "fp32", "--batches", "1", log=log)
    host = run(other, folder, 1, x[:4])
    other.close()
    note(f"{name} fp32 cudnn against onednn", error(whole[:4], host), "< 1e-4", error(whole[:4], host) < 1e-4)
    for precision, dtype in (("fp16", torch.float16), ("bf16", torch.bfloat16)):
        try:
            peer = Interpreter(path, dtype)
            peer = numpy.concatenate([peer(x[i:i + 32]) for i in range(0, len(x), 32)])
            theirs = error(peer[:few], want)
        except NotImplementedError as e:
            print(f"     {name} {precision}: not compared: this script has no {e} for PyTorch", flush=True)
            return
        engine = Engine(program, str(path), "--precision", precision, "--batches", "1,32", "--autotune", "2", log=log)
        got = run(engine, folder, 32, x)
        one = run(engine, folder, 1, x[:4])
        ours = error(got[:few], want)
        note(f"{name} {precision} error (PyTorch's {theirs:.1e})", ours, "<= 3 x PyTorch's", ours <= 3 * theirs)
        note(f"{name} {precision} batch 1 against 32", error(one, got[:4]), "<= 3 x PyTorch's", error(one, got[:4]) <= 3 * theirs)
        same = agreement(got, whole)
        peers = agreement(peer, whole)
        # With random weights the classes lie close together: bf16 is held against PyTorch's, two inputs in a hundred.
        bound = 0.995 if precision == "fp16" else peers - 0.02
        if count >= 1000:
            note(f"{name} {precision} top-1 agreement with fp32 of {count} (PyTorch's {peers:.3f})", same,
                 f">= {bound:.3f}", same >= bound)
        if name == "resnet50" and precision == "fp16":
            check_isolation(engine, folder, x[:32], got[:32])
        engine.close()


def check_isolation(engine, folder, x, clean):
    """A sample of not-a-numbers changes no other sample, and the next batch not at all."""
    poisoned = x.copy()
    poisoned[5] = numpy.nan
    got = run(engine, folder, 32, poisoned)
    others = numpy.delete(numpy.arange(32), 5)
    note("NaN in one sample: other samples changed by", numpy.max(numpy.abs(got[others] - clean[others])), "= 0",
         numpy.array_equal(got[others], clean[others]))
    again = run(engine, folder, 32, x)
    note("the batch after it changed by", numpy.max(numpy.abs(again - clean)), "= 0", numpy.array_equal(again, clean))


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    for name in sys.argv[3:] or [n for n in NETWORKS if n in KNOWN]:
        try:
            check_network(program, folder, name, NETWORKS[name])
        except Exception as e:  # the other networks are still checked
            rows.append({"name": name, "error": str(e), "good": False})
            print(f"FAIL {name}: {e!r}", flush=True)
    (folder / "check.json").write_text(json.dumps(rows, indent=1))
    sys.exit(0 if all(r["good"] for r in rows) else 1)


main()
