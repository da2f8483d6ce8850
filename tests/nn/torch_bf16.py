"""torch_bf16.py FOLDER: runs the graph of FOLDER/graph.json on FOLDER/samples.npy in bf16 on the CPU, as the framework
does it, and writes FOLDER/torch.npy. Run by compare_bf16.py under the Python that has torch."""
import json
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F


def pads(attrs):
    top, left, bottom, right = attrs.get("pads", [0, 0, 0, 0])
    return (left, right, top, bottom)


def pool(x, a, how):
    if how is F.max_pool2d:
        return F.max_pool2d(F.pad(x, pads(a), value=-torch.inf), a["kernel_shape"], a["strides"],
                            ceil_mode=bool(a.get("ceil_mode", 0)))
    return F.avg_pool2d(x, a["kernel_shape"], a["strides"], pads(a)[::2][::-1],
                        count_include_pad=bool(a.get("count_include_pad", 0)))


OPS = {
    "Conv": lambda a, x, w, b=None: F.conv2d(F.pad(x, pads(a)), w, b, a.get("strides", 1), 0, a.get("dilations", 1),
                                             a.get("group", 1)),
    "BatchNormalization": lambda a, x, scale, shift, mean, var: F.batch_norm(x, mean, var, scale, shift, False, 0,
                                                                           a.get("epsilon", 1e-5)),
    "Relu": lambda a, x: F.relu(x),
    "Clip": lambda a, x, low=None, high=None: x.clamp(None if low is None else low.item(),
                                                      None if high is None else high.item()),
    "MaxPool": lambda a, x: pool(x, a, F.max_pool2d),
    "AveragePool": lambda a, x: pool(x, a, F.avg_pool2d),
    "GlobalAveragePool": lambda a, x: x.mean((2, 3), keepdim=True),
    "Flatten": lambda a, x: x.flatten(1),
    "Gemm": lambda a, x, w, b=None: F.linear(x, w if a.get("transB") else w.T, b),
    "Add": lambda a, x, y: x + y,
    "Concat": lambda a, *xs: torch.cat(xs, a["axis"]),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    graph = json.loads((folder / "graph.json").read_text())
    weights = np.load(folder / "weights.npz")
    values = {name: torch.from_numpy(weights[name]).bfloat16() for name in weights.files}
    samples, outs = np.load(folder / "samples.npy"), []
    with torch.no_grad():
        for start in range(0, len(samples), 100):
            now = dict(values)
            now[graph["input"]] = torch.from_numpy(samples[start:start + 100]).bfloat16()
            for node in graph["nodes"]:
                args = [now[name] if name else None for name in node["inputs"]]
                now[node["output"]] = OPS[node["op"]](node["attrs"], *args)
            outs.append(now[graph["output"]].float().flatten(1).numpy())
    np.save(folder / "torch.npy", np.concatenate(outs))


main()
