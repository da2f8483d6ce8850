#!/usr/bin/env python3
"""compare_nodes.py NN_RUN_MODEL: the ONNX backend tests (of single operators, and those converted from PyTorch) whose
graph is in the subset give the results that come with them. All inputs but the first become constants, and a
batch is the first one's first dimension. What is refused is counted; wrong results fail, and so does a shrinking subset."""
import collections
import pathlib
import re
import sys
import tempfile
import warnings

import oracle

oracle.need("onnx", "numpy")

import numpy as np  # pylint: disable=wrong-import-position
import onnx  # pylint: disable=wrong-import-position
import onnx.version_converter  # pylint: disable=wrong-import-position
from onnx import numpy_helper  # pylint: disable=wrong-import-position

import engine  # pylint: disable=wrong-import-position

AT_LEAST = 89  # that run today
# The package gives this one's results with four digits.
COARSE = {"test_averagepool_2d_ceil_last_window_starts_on_pad"}
OPS = pathlib.Path(__file__).resolve().parents[2] / "src/nn/ops.def"


def single_operators(known):
    from onnx.backend.test.case.node import collect_testcases  # the data is made here
    for case in collect_testcases(None):
        if all(node.op_type in known for node in case.model.graph.node):
            yield case.name, case.model, *case.data_sets[0]


def read(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def converted(known):
    data = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    for path in sorted(data.glob("pytorch-*/*/model.onnx")):
        model = onnx.load(path)
        if all(node.op_type in known for node in model.graph.node):
            first = path.parent / "test_data_set_0"
            yield (path.parent.name, model, *([read(p) for p in sorted(first.glob(f"{kind}_*.pb"))]
                                              for kind in ("input", "output")))


# Element by element: another axis of 1 before all others changes nothing.
ELEMENTWISE = {"Relu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "Tanh", "Gelu", "Erf", "Constant"}


def lift(model, inputs, outputs):
    """Three dimensions become four, which the subset takes, where that is allowed."""
    operators = {node.op_type for node in model.graph.node}
    if inputs[0].ndim in (1, 3) and len(inputs) == 1 and operators <= ELEMENTWISE:
        shape = (1,) * (inputs[0].ndim // 3 or 1) + inputs[0].shape
        inputs[0], outputs[0] = inputs[0].reshape(shape), outputs[0].reshape(shape)
        for value in (model.graph.input[0], model.graph.output[0]):
            value.CopyFrom(onnx.helper.make_tensor_value_info(value.name, onnx.TensorProto.FLOAT, shape))
        del model.graph.value_info[:]


def to_read_opset(model):
    """What is older is converted; of what is newer the operators of the subset have only got more types."""
    opset = next(o for o in model.opset_import if not o.domain)
    if opset.version < 9:
        model = onnx.version_converter.convert_version(model, 13)
    elif opset.version > 20:
        opset.version = 20
    model.ir_version = 8
    return model


def prepare(model, inputs):
    """The first input stays one; the others become constants. None: nothing of it could run."""
    try:
        model = to_read_opset(model)
    except onnx.version_converter.ConvertError:
        return None
    given = {i.name for i in model.graph.initializer}
    free = [i for i in model.graph.input if i.name not in given]
    if len(free) != len(inputs) or not free or not isinstance(inputs[0], np.ndarray) \
            or inputs[0].dtype != np.float32 or not inputs[0].ndim or not inputs[0].size:
        return None
    for value, data in zip(free[1:], inputs[1:]):
        if not isinstance(data, np.ndarray) or data.dtype == object:
            return None
        model.graph.initializer.append(numpy_helper.from_array(data, value.name))
        model.graph.input.remove(value)
    return model


def main():
    warnings.simplefilter("ignore")  # the package's own data overflow
    known = set(re.findall(r'FW_NN_OP\(\w+, "(\w+)"', OPS.read_text(encoding="utf-8")))
    ran, refused, wrong = 0, collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        runs, cases = engine.Runs(sys.argv[1], folder), []
        for name, model, inputs, outputs in (*single_operators(known), *converted(known)):
            ready = prepare(model, inputs) if len(outputs) == 1 else None
            if ready is None:
                refused["(its first input is not fp32, or it has several outputs)"] += 1
                continue
            lift(ready, inputs, outputs)
            path = pathlib.Path(folder) / f"{len(cases)}.onnx"
            onnx.save(ready, path)
            batch = inputs[0].shape[0]
            runs.add(path, inputs[0], batch=batch, batches=batch, poison=1)
            cases.append((name, outputs[0]))
        for (name, want), got in zip(cases, runs.go()):
            if isinstance(got, str):
                if not got.startswith("not supported here "):
                    wrong.append(f"{name}: {got}")
                refused[got] += 1
            elif engine.error(got, want) > (1e-3 if name in COARSE else 1e-5):
                wrong.append(f"{name}: error {engine.error(got, want):.2g}")
            else:
                ran += 1
    if "-v" in sys.argv:
        for text, count in refused.most_common():
            print(count, text)
    print(f"{ran} tests of the ONNX package ran, {sum(refused.values())} are outside the subset, {len(wrong)} wrong")
    for text in wrong:
        print(text)
    if wrong or ran < AT_LEAST:
        sys.exit(f"expected no wrong results, and {AT_LEAST} tests that run")


main()
