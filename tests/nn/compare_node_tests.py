#!/usr/bin/env python3
"""compare_node_tests.py LIST_SHAPES DUMP_FOLDED [-v]: ONNX's own tests of each operator that we read. The shape of the
result is the one that the test expects, or the case is refused with a reason (-v prints it); with all inputs made constants
folding gives the expected numbers, where it computes that operator. Prints how many of each."""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import oracle

oracle.need("numpy", "onnx")

import numpy as np  # pylint: disable=wrong-import-position
import onnx  # pylint: disable=wrong-import-position

OPS = pathlib.Path(__file__).resolve().parents[2] / "src/nn/ops.def"
CASES = pathlib.Path("/usr/share/libonnx-testdata/data/node")
REFUSALS = ("not supported here: ", "malformed input: ", "bad argument: ")


def cases():
    """(name, model, inputs, expected result) of every one-node test of an operator of ours."""
    ours = set(re.findall(r'^FW_NN_OP\(\w+, "(\w+)"', OPS.read_text(), re.M))
    for folder in sorted(CASES.iterdir()):
        data = folder / "test_data_set_0"
        if not (data / "output_0.pb").exists():
            continue
        model = onnx.load(folder / "model.onnx")
        if len(model.graph.node) != 1 or model.graph.node[0].op_type not in ours:
            continue
        inputs = [onnx.TensorProto.FromString((data / f"input_{i}.pb").read_bytes())
                  for i in range(len(model.graph.input))]
        # The mean and the deviation of a layer norm are results that no classifier asks for.
        if model.graph.node[0].op_type == "LayerNormalization":
            del model.graph.node[0].output[1:]
            del model.graph.output[1:]
        yield folder.name, model, inputs, onnx.TensorProto.FromString((data / "output_0.pb").read_bytes())


def freeze(model, inputs, first):
    """Makes the inputs from `first` on constants: numbers that shapes are computed with are never an input to us."""
    for value, tensor in zip(list(model.graph.input)[first:], inputs[first:]):
        tensor.name = value.name
        model.graph.initializer.append(tensor)
        model.graph.input.remove(value)


def run(tool, path, model, *args):
    path.write_bytes(model.SerializeToString())
    return subprocess.run([tool, path, *args], capture_output=True, text=True, check=False)


def check_shape(tool, path, model, expected):
    """None, or why it is refused."""
    shape = model.graph.input[0].type.tensor_type.shape.dim if model.graph.input else ()
    result = run(tool, path, model, str(max(shape[0].dim_value, 1) if shape else 1))
    if result.returncode == 1 and result.stderr.startswith(REFUSALS):
        return result.stderr.strip()
    found = [line.split(" ")[2:] for line in result.stdout.splitlines()
             if line.split(" ")[0] == model.graph.node[0].output[0]]
    if result.returncode or not found or [int(d) for d in found[0]] != list(expected.dims):
        sys.exit(f"ours {found}, expected {list(expected.dims)}; {result.stderr}")
    return None


def check_numbers(tool, path, model, expected):
    """Whether folding computed the result; it is then the expected one."""
    lines = [line.split(" ") for line in run(tool, path, model).stdout.splitlines()]
    output = [words[1] for words in lines if words[0] == "output"]
    found = [words for words in lines if words[0] == "constant" and [words[1]] == output[:1]]
    if not found:
        return False
    wanted = onnx.numpy_helper.to_array(expected)
    got = np.frombuffer(bytes.fromhex(found[0][-1][1:]), wanted.dtype).reshape(wanted.shape)
    if not np.allclose(got, wanted, rtol=1e-6, atol=0, equal_nan=True):
        sys.exit(f"folded {got}, expected {wanted}")
    return True


def main():
    if not CASES.is_dir():
        print("skipped: no ONNX test data (apt install libonnx-testdata)")
        sys.exit(77)
    right, refused, folded = collections.Counter(), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        for name, model, inputs, expected in cases():
            op, is_first_int = model.graph.node[0].op_type, bool(inputs) and inputs[0].data_type == 7
            print(name, end=": ", file=sys.stderr)
            freeze(model, inputs, 0 if op == "ConstantOfShape" or is_first_int else 1 if op != "Concat" else len(inputs))
            reason = check_shape(sys.argv[1], path, model, expected)
            print(reason or "right", file=sys.stderr)
            (refused if reason else right)[op] += 1
            freeze(model, inputs, 0)
            folded[op] += not reason and check_numbers(sys.argv[2], path, model, expected)
    print(f"{sum(right.values())} cases of {len(right)} operators have the expected shape, "
          f"{sum(refused.values())} are refused; folding gives the expected numbers in {sum(folded.values())}")
    print("right:  ", dict(right))
    print("refused:", dict(refused))
    print("folded: ", dict(+folded))
    if sum(right.values()) < 180 or sum(folded.values()) < 60:
        sys.exit("too few are right")


main()
