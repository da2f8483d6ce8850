"""Runs a test under the Python that has onnx and onnxruntime: this one, or the one that CI sets up in .venv."""
import importlib.util
import os
import pathlib
import sys

VENV = pathlib.Path(__file__).resolve().parents[2] / ".venv/bin/python"


def need(*packages):
    """Returns under a Python that has the packages; leaves with 77, skipped, if there is none."""
    missing = [p for p in packages if importlib.util.find_spec(p) is None]
    if not missing:
        return
    python = os.environ.get("FW_ORACLE_PYTHON") or str(VENV)
    if os.environ.get("FW_ORACLE_TRIED") or not os.access(python, os.X_OK):
        print("skipped: no Python with", ", ".join(missing), "(pip install -r tests/oracles.txt)")
        sys.exit(77)
    os.environ["FW_ORACLE_TRIED"] = "1"
    os.execv(python, [python, "-B", *sys.argv])
