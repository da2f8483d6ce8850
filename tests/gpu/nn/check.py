#!/usr/bin/env python3
"""check.py GPU_NN WORK [NETWORK...]: the cudnn engine against PyTorch in fp32 and in half precision, ONNX Runtime on the
CPU, the CPU engine and itself at other batch sizes, on 1,000 pictures of 1,000 classes (pictures.py). Writes
WORK/check.json and a table; exits 1 if anything is past its bound."""
import concurrent.futures
import json
import os
import pathlib
import sys
import time

import numpy
import onnxruntime
import torch

from child import Engine
from pictures import CLASSES, fit_last_layer, pictures
from twin import Twin

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "nn"))
from make_model import make  # noqa: E402
from networks import NETWORKS as KNOWN  # noqa: E402

# Pictures that the CPU engine is asked too: one core needs 20 to 500 ms for each.
NETWORKS = {"resnet50": 1000, "mobilenet_v2": 1000, "squeezenet1_1": 256, "vgg11_bn": 64, "resnext50_32x4d": 64, "resnet18": 256,
            "densenet121": 64, "efficientnet_b0": 256, "mobilenet_v3_large": 256, "vit_b_16": 32}
BATCHES = (64, 8, 1)
FEW = 64  # that ONNX Runtime is asked
SAME_CLASS = 0.995
rows = []


def note(name, value, bound, good):
    rows.append({"name": name, "value": float(value), "bound": bound, "good": bool(good)})
    print(f"{'ok  ' if good else 'FAIL'} {name:72s} {value:.3e}  {bound}", flush=True)


def error(a, b):
    """Largest difference over the largest value of the reference, of each sample the worst."""
    return float(numpy.max(numpy.max(numpy.abs(a - b), axis=1) / numpy.max(numpy.abs(b), axis=1)))


def agreement(a, b):
    return float(numpy.mean(numpy.argmax(a, 1) == numpy.argmax(b, 1)))


def reference(path, x):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return numpy.concatenate([session.run(None, {name: x[i:i + 32]})[0] for i in range(0, len(x), 32)])


class Pictures:
    """The inputs, on the device and in files: one with all and one for each host process."""

    def __init__(self, folder, level):
        self.folder, self.batches = folder, list(pictures(2, level))
        self.all = torch.cat(self.batches).cpu().numpy()
        self.parts = numpy.array_split(self.all, max(1, min(8, (os.cpu_count() or 2) // 2)))
        self.write("all", self.all)
        for i, part in enumerate(self.parts):
            self.write(i, part)

    def path(self, name):
        return self.folder / f"pictures-{name}.f32"

    def write(self, name, x):
        x.astype(numpy.float32).tofile(self.path(name))


def run(engine, inputs, name, batch, count):
    """Results for the first of a file's pictures."""
    target = inputs.folder / f"results-{id(engine)}.f32"
    engine.ask(f"run {batch} {count} {inputs.path(name)} {target}")
    return numpy.fromfile(target, dtype=numpy.float32).reshape(count, -1)


def on_host(program, path, inputs, count, log):
    """The CPU engine's results for some pictures of each part, in as many processes; with their places among all."""
    each = max(1, count // len(inputs.parts))

    def one(i):
        engine = Engine(program, str(path), "--engine", "onednn", "--precision", "fp32", "--batches", "1", log=log)
        n = min(each, len(inputs.parts[i]))
        got = run(engine, inputs, i, 1, n)
        engine.close()
        return got, sum(map(len, inputs.parts[:i])) + numpy.arange(n)

    with concurrent.futures.ThreadPoolExecutor(len(inputs.parts)) as pool:
        made = list(pool.map(one, range(len(inputs.parts))))
    return numpy.concatenate([m[0] for m in made]), numpy.concatenate([m[1] for m in made])


def check_classes(name, exact, peer):
    """That the test can see: how far the classes are from each other, and what an engine ten times worse than PyTorch's bf16
    would do to them."""
    ordered = numpy.sort(exact, 1)
    margin = (ordered[:, -1] - ordered[:, -2]) / ordered[:, -1]
    noise = numpy.random.default_rng(3).standard_normal(exact.shape) * numpy.abs(exact).max(1, keepdims=True)
    right = float(numpy.mean(numpy.argmax(exact, 1) == numpy.arange(len(exact))))
    print(f"     {name}: margin over the largest logit: median {numpy.median(margin):.3f}, of 1 in 100 at most "
          f"{numpy.quantile(margin, 0.01):.4f}; of 10,000, {1e4 * agreement(exact + 0.1 * noise, exact):.0f} keep their class "
          f"with noise of 10 % of the largest logit, {1e4 * agreement(exact + 0.02 * noise, exact):.0f} of 2 %", flush=True)
    note(f"{name}: pictures in their class, PyTorch fp32", right, ">= 0.9", right >= 0.9)
    kept = agreement(exact + 10 * (peer - exact), exact)
    note(f"{name}: top-1 agreement with ten times bf16's errors (must be seen)", kept, f"< {SAME_CLASS}", kept < SAME_CLASS)


def check_engine(engine, name, inputs, exact, bound):
    """One precision at every batch size: against PyTorch's fp32, and against each other. bound: number and words."""
    got = {batch: run(engine, inputs, "all", batch, len(exact)) for batch in BATCHES}
    first = got[BATCHES[0]]
    note(f"{name}: error", error(first, exact), bound[1], error(first, exact) <= bound[0])
    same = agreement(first, exact)
    note(f"{name}: top-1 agreement with fp32 of {len(exact)}", same, f">= {SAME_CLASS}", same >= SAME_CLASS)
    for batch in BATCHES[1:]:
        off, same = error(got[batch], first), agreement(got[batch], first)
        note(f"{name}: batch {batch} against {BATCHES[0]}", off, bound[1], off <= bound[0])
        note(f"{name}: top-1 agreement of batch {batch} with {BATCHES[0]}", same, f">= {SAME_CLASS}", same >= SAME_CLASS)
    return first


def check_host(name, host, got, bound):
    results, places = host
    off, same = error(got[places], results), agreement(got[places], results)
    note(f"{name}: cudnn against onednn fp32", off, bound[1], off <= bound[0])
    note(f"{name}: top-1 agreement of cudnn with onednn fp32 of {len(places)}", same, f">= {SAME_CLASS}", same >= SAME_CLASS)


def check_network(program, folder, name):
    path, start = folder / f"{name}-fitted.onnx", time.time()
    make(name, folder / f"{name}.onnx", batch="batch_size", classes=CLASSES)
    level = fit_last_layer(folder / f"{name}.onnx", path)
    inputs = Pictures(folder, level)
    print(f"     {name}: pictures of a class differ by {level:.4f}; made in {time.time() - start:.1f} s", flush=True)
    log = open(folder / f"{name}.log", "w")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        host = pool.submit(on_host, program, path, inputs, NETWORKS[name], log)

        def twin(dtype):
            made = Twin(path, dtype)
            return torch.cat([made(x) for x in inputs.batches]).cpu().numpy()

        exact = twin(torch.float32)
        want = reference(path, inputs.all[:FEW])
        off = error(exact[:FEW], want)
        note(f"{name}: PyTorch fp32 against ONNX Runtime", off, "<= 1e-4", off <= 1e-4)
        peers = {"fp16": twin(torch.float16), "bf16": twin(torch.bfloat16)}
        check_classes(name, exact, peers["bf16"])
        for precision in ("fp32", "fp16", "bf16"):
            bound = (1e-4, "<= 1e-4")
            if precision in peers:
                theirs = error(peers[precision], exact)
                bound = (3 * theirs, f"<= 3 x PyTorch's {theirs:.1e}")
                print(f"     {name} {precision}: top-1 agreement of PyTorch {agreement(peers[precision], exact):.4f}", flush=True)
            engine = Engine(program, str(path), "--precision", precision, "--batches", ",".join(map(str, BATCHES)),
                            "--autotune", "1.5", log=log)
            got = check_engine(engine, f"{name} {precision}", inputs, exact, bound)
            if precision == "fp32":
                off = error(got[:FEW], want)
                note(f"{name} fp32: error against ONNX Runtime", off, "<= 1e-4", off <= 1e-4)
            check_host(f"{name} {precision}", host.result(), got, bound)
            if name == "resnet50" and precision == "fp16":
                check_isolation(engine, inputs, got)
            engine.close()
    print(f"     {name}: {time.time() - start:.0f} s", flush=True)


def check_isolation(engine, inputs, clean):
    """A sample of not-a-numbers changes no other sample, and the next batch not at all."""
    batch = BATCHES[0]
    poisoned = inputs.all[:batch].copy()
    poisoned[5] = numpy.nan
    inputs.write("poisoned", poisoned)
    got = run(engine, inputs, "poisoned", batch, batch)
    others = numpy.delete(numpy.arange(batch), 5)
    note("NaN in one sample: other samples changed by", numpy.max(numpy.abs(got[others] - clean[others])), "= 0",
         numpy.array_equal(got[others], clean[others]))
    again = run(engine, inputs, "all", batch, batch)
    note("the batch after it changed by", numpy.max(numpy.abs(again - clean[:batch])), "= 0",
         numpy.array_equal(again, clean[:batch]))


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    for name in sys.argv[3:] or [n for n in NETWORKS if n in KNOWN]:
        try:
            check_network(program, folder, name)
        except Exception as e:  # the other networks are still checked
            rows.append({"name": name, "error": repr(e), "good": False})
            print(f"FAIL {name}: {e!r}", flush=True)
    (folder / "check.json").write_text(json.dumps(rows, indent=1))
    sys.exit(0 if all(r["good"] for r in rows) else 1)


main()
