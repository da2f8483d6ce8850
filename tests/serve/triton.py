#!/usr/bin/env python3
"""triton.py FULLWARP_SERVE: tritonclient, NVIDIA's client of the protocol, gets its answers; with JSON, with binary tensors,
compressed, classified, from several requests at a time. Exits 77 where it is not installed."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "nn"))
import oracle

oracle.need("tritonclient", "geventhttpclient", "numpy")
import numpy as np  # noqa: E402
import tritonclient.http as triton  # noqa: E402
from service import Service  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SERVE = os.path.abspath(sys.argv[1])


def png(pixels):
    """A PNG file of height x width x 3 bytes."""
    h, w, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    parts = [(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d)) for t, d in parts)


def image_input(files, is_binary=True):
    data = np.array(files, dtype=np.object_).reshape(len(files), 1)
    made = triton.InferInput("image", data.shape, "BYTES")
    made.set_data_from_numpy(data, binary_data=is_binary)
    return made


def main():
    os.chdir(tempfile.mkdtemp())
    subprocess.run([sys.executable, "-B", HERE.parent / "nn/make_model.py", "resnet18", "--width", "0.125", "--image", "32",
                    "--classes", "10", "--dynamic", "-o", "m.onnx"], check=True)
    pathlib.Path("labels").write_text("".join(f"label {i}\n" for i in range(10)))
    rng = np.random.default_rng(3)
    files = [png(rng.integers(0, 256, (40 + i, 50, 3)).astype(np.uint8)) for i in range(4)]
    with Service([SERVE, "serve", "m.onnx", "--engine", "onednn", "--labels", "labels", "--workers", "1"]) as s:
        client = triton.InferenceServerClient(f"127.0.0.1:{s.port}", concurrency=4)
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("m") and client.is_model_ready("m", "1")
        assert client.get_server_metadata()["name"] == "fullwarp-serve"
        about = client.get_model_metadata("m")
        assert {i["name"]: i["datatype"] for i in about["inputs"]} == {"image": "BYTES", "tensor": "FP32"}

        first = client.infer("m", [image_input(files)], request_id="seven")
        ids, probabilities, labels = (first.as_numpy(n) for n in ("class_id", "probability", "label"))
        assert first.get_response()["id"] == "seven" and ids.shape == probabilities.shape == (4, 5) and ids.dtype == np.uint32
        assert (np.diff(probabilities) <= 0).all() and probabilities.dtype == np.float32
        assert all(label == f"label {i}".encode() for label, i in zip(labels.ravel(), ids.ravel()))

        # Bytes that are no text cannot be JSON, so a client sends base64.
        import base64
        text = image_input([base64.b64encode(f) for f in files], is_binary=False)
        outputs = [triton.InferRequestedOutput("class_id", binary_data=False), triton.InferRequestedOutput("probability", binary_data=True)]
        for compression in (None, "gzip", "deflate"):
            again = client.infer("m", [text], outputs=outputs, request_compression_algorithm=compression)
            assert (again.as_numpy("class_id") == ids).all() and np.abs(again.as_numpy("probability") - probabilities).max() < 1e-4
            again = client.infer("m", [image_input(files)], request_compression_algorithm=compression)
            assert (again.as_numpy("class_id") == ids).all()

        for is_binary in (True, False):
            output = triton.InferRequestedOutput("probability", binary_data=is_binary, class_count=3)
            top = client.infer("m", [image_input(files)], outputs=[output]).as_numpy("probability")
            assert top.shape == (4, 3)
            for i in range(4):
                value, number, label = (top[i, 0].decode() if isinstance(top[i, 0], bytes) else top[i, 0]).split(":")
                assert abs(float(value) - probabilities[i, 0]) < 1e-4 and int(number) == ids[i, 0] and label == f"label {number}"

        tensor = triton.InferInput("tensor", [2, 3, 32, 32], "FP32")
        samples = rng.normal(size=(2, 3, 32, 32)).astype(np.float32)
        got = []
        for is_binary in (True, False):
            tensor.set_data_from_numpy(samples, binary_data=is_binary)
            got.append(client.infer("m", [tensor]).as_numpy("probability"))
        assert np.abs(got[0] - got[1]).max() < 1e-5

        pending = [client.async_infer("m", [image_input([f])]) for f in files]
        assert [p.get_result().as_numpy("class_id")[0, 0] for p in pending] == list(ids[:, 0])

        for bad, why in (([b"no image"], "not a JPEG or PNG"), ([files[0][:-30]], "PNG")):
            try:
                client.infer("m", [image_input(bad)])
            except triton.InferenceServerException as e:
                assert why in e.message() and e.status() == "400", (e.message(), e.status())
            else:
                raise AssertionError("took " + why)
        try:
            client.infer("m", [image_input(files * 10)], timeout=1)  # microseconds
        except triton.InferenceServerException as e:
            assert e.status() in ("400", "504"), e
        client.close()


if __name__ == "__main__":
    main()
