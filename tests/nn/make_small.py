#!/usr/bin/env python3
"""Writes small ONNX files into a folder: a network of a few nodes, and files that are wrong in one way each. They are the
fuzzer's first inputs, and tests/unit/test_nn_onnx.c says what each must give."""
import pathlib
import struct
import sys

import onnx_writer as w


def small(opset=17, nodes=None, weights=None, inputs=None, outputs=None, ir_version=8):
    """Conv, BatchNormalization, Relu, GlobalAveragePool, Flatten, Gemm on 3 x 8 x 8 pixels."""
    ramp = [0.01 * i - 0.5 for i in range(108)]
    if weights is None:
        weights = [w.floats("conv.w", (4, 3, 3, 3), ramp), w.floats("bn.scale", (4,), [1, 2, 3, 4]),
                   w.floats("bn.shift", (4,), [0.5] * 4), w.floats("bn.mean", (4,), [0, 1, 2, 3]),
                   w.floats("bn.var", (4,), [1, 0.25, 4, 9]), w.floats("fc.w", (2, 4), ramp[:8]),
                   w.floats("fc.b", (2,), [1, -1])]
    if nodes is None:
        nodes = [w.node("Conv", ["x", "conv.w"], ["c"], "/conv", pads=[1, 1, 1, 1], strides=[2, 2]),
                 w.node("BatchNormalization", ["c", "bn.scale", "bn.shift", "bn.mean", "bn.var"], ["b"], "/bn"),
                 w.node("Relu", ["b"], ["r"], "/relu"), w.node("GlobalAveragePool", ["r"], ["p"], "/pool"),
                 w.node("Flatten", ["p"], ["f"], "/flatten"),
                 w.node("Gemm", ["f", "fc.w", "fc.b"], ["y"], "/fc", transB=1)]
    return b"".join(w.model(nodes, weights, inputs or [w.value("x", ("n", 3, 8, 8))],
                            outputs or [w.value("y", ("n", 2))], opset, ir_version))


def one(op, extra=(), dims=("n", 3, 8, 8), weights=(), kind=w.FLOAT, **attrs):
    """A model of one node."""
    return small(nodes=[w.node(op, ["x", *extra], ["y"], "/node", **attrs)], weights=list(weights),
                 inputs=[w.value("x", dims, kind)])


def stored(name, dims, kind, field, data):
    """A tensor whose numbers lie in another field than raw_data."""
    return (b"".join(w.number(1, d) for d in dims) + w.number(2, kind) + w.chunk(8, name) + w.chunk(field, data))


def outside(location, offset=0, length=8):
    head = w.number(1, 2) + w.number(2, w.FLOAT) + w.chunk(8, "b") + w.number(14, 1)
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        head += w.chunk(13, w.chunk(1, key) + w.chunk(2, str(value)))
    return one("Add", ["b"], ("n", 2), [head])


def layer_norm_parts():
    """What PyTorch writes for a layer norm before opset 17."""
    weights = [w.floats("two", (), [2]), w.floats("eps", (), [1e-6]), w.floats("scale", (4,), [2] * 4),
               w.floats("shift", (4,), [3] * 4)]
    nodes = [w.node("ReduceMean", ["x"], ["mean"], axes=[-1]), w.node("Sub", ["x", "mean"], ["d"]),
             w.node("Pow", ["d", "two"], ["s"]), w.node("ReduceMean", ["s"], ["var"], axes=[-1]),
             w.node("Add", ["var", "eps"], ["e"]), w.node("Sqrt", ["e"], ["r"]), w.node("Div", ["d", "r"], ["q"]),
             w.node("Mul", ["q", "scale"], ["m"]), w.node("Add", ["m", "shift"], ["y"])]
    return small(13, nodes, weights, [w.value("x", ("n", 3, 4))])


def computed_shape():
    weights = [w.ints("zero", (), [0]), w.ints("first", (1,), [0]), w.ints("rest", (1,), [192])]
    nodes = [w.node("Shape", ["x"], ["s"]), w.node("Gather", ["s", "zero"], ["n"]),
             w.node("Unsqueeze", ["n", "first"], ["u"]), w.node("Concat", ["u", "rest"], ["t"], axis=0),
             w.node("Reshape", ["x", "t"], ["y"])]
    return small(nodes=nodes, weights=weights)


def shared_conv():
    """A batch norm after a convolution whose result is read beside it."""
    rows = [w.floats(name, (1,), [1]) for name in ("scale", "shift", "mean", "var")]
    nodes = [w.node("Conv", ["x", "k"], ["c"]),
             w.node("BatchNormalization", ["c", "scale", "shift", "mean", "var"], ["b"]),
             w.node("Add", ["c", "b"], ["y"])]
    return small(nodes=nodes, weights=[w.floats("k", (1, 3, 1, 1), [1] * 3), *rows])


def copies():
    nodes = [w.node("Identity", ["x"], ["a"]), w.node("Dropout", ["a"], ["b"]), w.node("Cast", ["b"], ["c"], to=1),
             w.node("Relu", ["c"], ["d"]), w.node("Identity", ["d"], ["y"])]
    return small(nodes=nodes, weights=[])


def attention():
    """Three patches of an image behind a class token; two heads of three numbers each."""
    ramp = [0.01 * i - 0.5 for i in range(108)]
    weights = [w.floats("cls", (1, 1, 6), ramp[:6]), w.floats("pos", (1, 4, 6), ramp[:24]),
               w.floats("qkv", (6, 18), ramp), w.floats("bias", (18,), ramp[:18]),
               w.ints("split", (5,), [0, 4, 3, 2, 3]), w.ints("back", (3,), [0, 4, -1]), w.ints("first", (1,), [0]),
               w.floats("scale", (), [0.5]), w.ints("zero", (), [0]), w.floats("fc.w", (6, 2), ramp[:12])]
    weights += [w.floats("patch", (6, 3, 2, 2), ramp[:72]), w.ints("columns", (3,), [0, 6, 3])]
    nodes = [w.node("Conv", ["x", "patch"], ["map"], strides=[2, 2]), w.node("Reshape", ["map", "columns"], ["flat"]),
             w.node("Transpose", ["flat"], ["patches"], perm=[0, 2, 1]),
             w.node("Concat", ["cls", "patches"], ["all"], axis=1), w.node("Add", ["all", "pos"], ["tokens"]),
             w.node("MatMul", ["tokens", "qkv"], ["m1"]), w.node("Add", ["m1", "bias"], ["rows"]),
             w.node("Reshape", ["rows", "split"], ["s"]), w.node("Transpose", ["s"], ["t"], perm=[2, 0, 3, 1, 4]),
             w.node("Split", ["t"], ["a", "b", "c"], axis=0)]
    nodes += [w.node("Squeeze", [i, "first"], [o]) for i, o in ("aq", "bk", "cv")]
    return small(13, nodes + [
        w.node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]), w.node("MatMul", ["q", "kt"], ["p"]),
        w.node("Mul", ["p", "scale"], ["m"]), w.node("Softmax", ["m"], ["o"], axis=-1),
        w.node("MatMul", ["o", "v"], ["h"]), w.node("Transpose", ["h"], ["r"], perm=[0, 2, 1, 3]),
        w.node("Reshape", ["r", "back"], ["z"]), w.node("Add", ["z", "tokens"], ["sum"]),
        w.node("Gather", ["sum", "zero"], ["g"], axis=1), w.node("Gemm", ["g", "fc.w"], ["y"])],
        weights, [w.value("x", (1, 3, 6, 2))])


def branches():
    """A gate of squeeze and excitation, a residual, a concatenation, and the mean over pixels."""
    weights = [w.floats("k", (3, 3, 1, 1), [0.5] * 9), w.floats("six", (), [6.0]), w.floats("nil", (), [0.0])]
    nodes = [w.node("Conv", ["x", "k"], ["a"]), w.node("Clip", ["a", "nil", "six"], ["r"]),
             w.node("GlobalAveragePool", ["r"], ["p"]), w.node("Conv", ["p", "k"], ["e"]),
             w.node("HardSigmoid", ["e"], ["g"], alpha=0.2), w.node("Mul", ["g", "r"], ["s"]),
             w.node("Add", ["s", "x"], ["d"]), w.node("Sigmoid", ["d"], ["n"]), w.node("Mul", ["d", "n"], ["w"]),
             w.node("Concat", ["w", "r"], ["c"], axis=1),
             w.node("MaxPool", ["c"], ["q"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
             w.node("ReduceMean", ["q"], ["m"], axes=[2, 3], keepdims=0), w.node("Softmax", ["m"], ["y"])]
    return small(13, nodes, weights)


def baked_batch():
    """An open batch, and a shape that holds for one sample only."""
    return small(nodes=[w.node("Reshape", ["x", "b"], ["y"], "/node")], weights=[w.ints("b", (2,), [1, 192])])


def files():
    good = small()
    relu = w.node("Relu", ["x"], ["y"], "/node")
    half = stored("b", (2,), 10, 5, w.varint(0x3c00) + w.varint(0xc000))
    yield "small", good
    yield "small-opset9", small(9)
    yield "weights-as-inputs", small(9, inputs=[w.value("x", (1, 3, 8, 8)), w.value("fc.b", (2,))], ir_version=3)
    yield "float-data", one("Add", ["b"], ("n", 2), [stored("b", (2,), 1, 4, struct.pack("<2f", 1.5, -2))])
    yield "int64-data", one("Reshape", ["b"], ("n", 4, 1), [stored("b", (2,), 7, 7, w.varint(0) + w.varint(-1))])
    yield "half-data", small(nodes=[w.node("Cast", ["b"], ["c"], "/cast", to=1),
                                    w.node("Add", ["x", "c"], ["y"], "/node")], weights=[half],
                             inputs=[w.value("x", ("n", 2))])
    yield "layer-norm-parts", layer_norm_parts()
    yield "computed-shape", computed_shape()
    yield "shared-conv", shared_conv()
    yield "copies", copies()
    yield "attention", attention()
    yield "branches", branches()
    yield "baked-batch", baked_batch()
    yield "bad-truncated", good[:-300]
    yield "bad-cycle", small(nodes=[w.node("Add", ["x", "b"], ["a"], "/a"), w.node("Relu", ["a"], ["b"], "/b"), relu])
    yield "bad-missing", one("Add", ["nowhere"])
    yield "bad-twice", small(nodes=[relu, w.node("Sigmoid", ["x"], ["y"], "/again")])
    yield "bad-output", small(nodes=[relu], outputs=[w.value("z", (1,))])
    yield "bad-operator", one("LSTM")
    yield "bad-domain", small(nodes=[relu + w.chunk(7, "com.example")])
    yield "bad-opset", small(8)
    yield "bad-ir", small(ir_version=99)
    yield "bad-huge-dims", one("Add", ["b"], weights=[w.tensor("b", (1 << 32, 1 << 32), w.FLOAT, b"")])
    yield "bad-negative-dim", one("Add", ["b"], weights=[w.tensor("b", (-4,), w.FLOAT, b"")])
    yield "bad-short-data", one("Add", ["b"], weights=[w.tensor("b", (4,), w.FLOAT, bytes(12))])
    yield "bad-rank", one("Add", ["b"], weights=[w.tensor("b", (1,) * 9, w.FLOAT, bytes(4))])
    yield "bad-type", one("Add", ["b"], weights=[w.tensor("b", (1,), 8, b"")])
    yield "bad-byte-range", one("Add", ["b"], weights=[stored("b", (1,), 2, 5, w.varint(256))])
    yield "bad-open-size", one("Relu", dims=("n", 3, "h", 8))
    yield "bad-attribute", one("Conv", ["c"], weights=[w.floats("c", (1, 3, 1, 1), [1] * 3)], group=1.5)
    yield "bad-channels", one("Conv", ["c"], weights=[w.floats("c", (1, 2, 1, 1), [1] * 2)])
    yield "bad-stride", one("MaxPool", kernel_shape=[2, 2], strides=[0, 1])
    yield "bad-padding", one("MaxPool", kernel_shape=[2, 2], pads=[1 << 62] * 4)
    yield "bad-dilation", one("MaxPool", kernel_shape=[1 << 40, 2], dilations=[1 << 40, 2])
    yield "bad-reshape", one("Reshape", ["b"], ("n", 4), [w.ints("b", (2,), [-1, 3])])
    yield "bad-perm", one("Transpose", perm=[0, 1, 1, 2])
    yield "bad-axis", one("Concat", axis=4)
    yield "outside-absolute", outside("/etc/hostname")
    yield "outside-parent", outside("sub/../../secret")
    yield "outside-offset", outside("data.bin", 16)
    yield "outside-overflow", outside("data.bin", (1 << 64) - 4)
    yield "outside-length", outside("data.bin", 0, 4)
    yield "outside-number", outside("data.bin", "1e3")
    yield "outside-absent", outside("nothing.bin")
    yield "outside-link", outside("link.bin")
    yield "outside-good", outside("data.bin", 4)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, data in files():
        (folder / f"{name}.onnx").write_bytes(data)


if __name__ == "__main__":
    main()
