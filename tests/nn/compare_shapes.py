#!/usr/bin/env python3
"""compare_shapes.py LIST_SHAPES: the shape and type of every value of every generated model are those that the onnx
package infers."""
import pathlib
import subprocess
import sys
import tempfile

import oracle

oracle.need("onnx")

import onnx  # pylint: disable=wrong-import-position

from make_model import make  # pylint: disable=wrong-import-position
from networks import NETWORKS  # pylint: disable=wrong-import-position


def expected(path, batch):
    """Name -> type and dimensions, of a model whose batch is fixed here."""
    model = onnx.load(path)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = batch
    for output in model.graph.output:
        output.type.tensor_type.shape.ClearField("dim")
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    out = {}
    for value in (*inferred.value_info, *inferred.output):
        tensor = value.type.tensor_type
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
        if tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
            out[value.name] = " ".join([kind, *(str(d.dim_value) for d in tensor.shape.dim)])
    return out


def main():
    tool, compared = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        for name in NETWORKS:
            for opset, image in ((9, 64), (18, 96)):
                # The package does not follow all the shapes that a transformer of open batch computes.
                batch = 3 if name.startswith("vit") else "n"
                make(name, path, opset=opset, batch=batch, width=0.25, image=image, classes=10)
                lines = subprocess.run([tool, path, "3"], check=True, capture_output=True, text=True).stdout
                ours = dict(line.split(" ", 1) for line in lines.splitlines())
                theirs = expected(path, 3)
                wrong = {k: (ours.get(k), v) for k, v in theirs.items() if ours.get(k) != v}
                if wrong or "output" not in theirs:
                    sys.exit(f"{name}, opset {opset}: ours, theirs: {wrong}")
                compared += len(theirs)
    print(f"{compared} shapes of {len(NETWORKS)} networks are equal")


main()
