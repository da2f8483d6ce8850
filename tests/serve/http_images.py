#!/usr/bin/env python3
"""http_images.py FULLWARP_SERVE CHECK [REQUESTS]: the service with a network of its own: each answer is that of `fullwarp-serve classify` (which is
compared with Pillow and ONNX Runtime elsewhere) or of `run`; many connections, corrupt images among them; a drain under load; a
kill. CHECK reads OpenMetrics strictly. REQUESTS (1536, in CI) is how many the 64 connections send while memory is watched; by hand,
with a build without sanitizers: 10000 and more. Exits 77 where Pillow, numpy or the engine is missing."""
import base64
import csv
import http.client
import io
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

try:
    import numpy as np
    from PIL import Image
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from service import Service

HERE = pathlib.Path(__file__).resolve().parent
SERVE, CHECK = map(os.path.abspath, sys.argv[1:3])
REQUESTS = int(sys.argv[3]) if len(sys.argv) > 3 else 1536
SIDE, CLASSES, PICTURES = 32, 10, 20
NEAR = 1e-4  # of a probability; the batch size changes the order of sums
CLASSIFY, INFER = "/v2/models/net/classify", "/v2/models/net/infer"
BATCH = ("--workers", "2", "--batch", "5", "--engine", "onednn", "--name", "net")


def serve(*options, **how):
    return Service([SERVE, "serve", "m.onnx", *BATCH], *options, **how)


def make_pictures():
    """{name: bytes}, and one in a hundred ways corrupt."""
    os.mkdir("in")
    for i in range(PICTURES):
        rng = np.random.default_rng(i)
        width, height = (int(n) for n in rng.integers(40, 200, 2))
        picture = Image.fromarray(rng.integers(0, 256, (5, 5, 3)).astype(np.uint8)).resize((width, height), Image.BICUBIC)
        picture.save(f"in/{i:02}.{'png' if i % 4 == 1 else 'jpg'}", **({} if i % 4 == 1 else {"quality": 92}))
    return {p.name: p.read_bytes() for p in sorted(pathlib.Path("in").iterdir())}


def expected():
    """{name: [(class, probability)]} of the offline command."""
    run = subprocess.run([SERVE, "classify", "m.onnx", "in", "--engine", "onednn", "--quiet"], capture_output=True, text=True, check=True)
    rows = list(csv.reader(io.StringIO(run.stdout)))[1:]
    return {row[0][3:]: [(int(row[i]), float(row[i + 1])) for i in range(2, 12, 2)] for row in rows}


def same(got, want):
    return len(got) == len(want) and all(c == i and abs(p - q) < NEAR for (c, p), (i, q) in zip(got, want))


def classes_of(answer):
    return [(c["id"], c["probability"]) for c in answer["classes"]]


def rows_of(answer):
    """[[(class, probability)]] of an infer answer in JSON."""
    data = {o["name"]: o["data"] for o in answer["outputs"]}
    pairs = list(zip(data["class_id"], data["probability"]))
    k = answer["outputs"][0]["shape"][1]
    return [pairs[i:i + k] for i in range(0, len(pairs), k)]


def answers_as_the_command_does(s, pictures, want):
    for name, picture in pictures.items():
        status, answer = s.json("POST", CLASSIFY, picture, {"Content-Type": "image/png" if name.endswith("png") else "image/jpeg"})
        assert status == 200 and same(classes_of(answer), want[name]), (name, answer, want[name])
    names = list(pictures)
    data = [[base64.b64encode(pictures[n]).decode()] for n in names]
    ask = {"inputs": [{"name": "image", "datatype": "BYTES", "shape": [len(names), 1], "data": data}]}
    status, answer = s.json("POST", INFER, json.dumps(ask))
    assert status == 200 and all(same(row, want[n]) for row, n in zip(rows_of(answer), names, strict=True))
    data = b"".join(struct.pack("<I", len(p)) + p for p in pictures.values())
    del ask["inputs"][0]["data"]
    ask["inputs"][0]["parameters"] = {"binary_data_size": len(data)}
    head = json.dumps(ask).encode()
    status, answer = s.json("POST", INFER, head + data, {"Inference-Header-Content-Length": str(len(head))})
    assert status == 200 and all(same(row, want[n]) for row, n in zip(rows_of(answer), names, strict=True))


def takes_what_the_network_takes(s):
    samples = np.random.default_rng(7).normal(size=(7, 3, SIDE, SIDE)).astype(np.float32)
    np.save("samples.npy", samples)
    subprocess.run([SERVE, "run", "m.onnx", "--engine", "onednn", "--input", "samples.npy", "--output", "scores.npy"], check=True, capture_output=True)
    scores = np.load("scores.npy").reshape(7, CLASSES).astype(np.float64)
    want = np.exp(scores - scores.max(1, keepdims=True))
    want /= want.sum(1, keepdims=True)
    tensor = {"name": "tensor", "datatype": "FP32", "shape": [7, 3, SIDE, SIDE], "parameters": {"binary_data_size": samples.nbytes}}
    head = json.dumps({"inputs": [tensor]}).encode()
    in_json = json.dumps({"inputs": [{**tensor, "shape": [2, 3, SIDE, SIDE], "parameters": {}, "data": samples[:2].tolist()}]})
    for rows, answer in ((7, s.json("POST", INFER, head + samples.tobytes(), {"Inference-Header-Content-Length": str(len(head))})),
                         (2, s.json("POST", INFER, in_json))):
        assert answer[0] == 200, answer
        for row, wanted in zip(rows_of(answer[1]), want[:rows], strict=True):
            assert [c for c, _ in row] == list(np.argsort(-wanted, kind="stable")[:5]) and all(abs(p - wanted[c]) < NEAR for c, p in row)
    samples[3, 1, 2, 2] = np.nan
    status, answer = s.json("POST", INFER, head + samples.tobytes(), {"Inference-Header-Content-Length": str(len(head))})
    assert status == 400 and "image 3: element 1090 of the tensor is nan" in answer["error"], answer


def works_with_curl(s, pictures, want):
    if not shutil.which("curl"):
        print("without curl")
        return
    url = f"http://127.0.0.1:{s.port}"
    run = subprocess.run(["curl", "-sS", "--fail", "-H", "Content-Type: image/jpeg", "--data-binary", "@in/00.jpg", url + CLASSIFY + "?top=3"],
                         capture_output=True, check=True)
    assert same(classes_of(json.loads(run.stdout)), want["00.jpg"][:3])
    run = subprocess.run(["curl", "-sS", "-F", "image=@in/00.jpg", url + CLASSIFY], capture_output=True, check=True)
    assert b"image/jpeg or image/png" in run.stdout  # a form is not an image
    pathlib.Path("many").write_bytes(os.urandom(3_000_000))  # with Expect: 100-continue
    run = subprocess.run(["curl", "-sS", "--data-binary", "@many", url + CLASSIFY], capture_output=True, check=True)
    assert b"not a JPEG or PNG" in run.stdout


class Load:
    """Connections that ask one after the other until each has asked `each` times; a twentieth of the images is corrupt."""

    def __init__(self, s, pictures, want, lanes, each):
        self.s, self.want, self.each, self.names = s, want, each, list(pictures)
        self.pictures = pictures
        self.codes, self.wrong, self.lock = {}, [], threading.Lock()
        self.threads = [threading.Thread(target=self.lane, args=(i,)) for i in range(lanes)]
        for thread in self.threads:
            thread.start()

    def check(self, name, is_corrupt, status, answer):
        if status == 503:
            return "error" in answer
        if is_corrupt:
            return status == 400 and "error" in answer
        return status == 200 and same(classes_of(answer), self.want[name])

    def lane(self, number):
        connection = self.s.connect()
        for i in range(self.each):
            name, is_corrupt = self.names[(number * 7 + i) % len(self.names)], (number + i) % 20 == 3
            picture = self.pictures[name][:-200] if is_corrupt else self.pictures[name]
            try:
                status, answer = self.s.json("POST", CLASSIFY, picture, connection=connection)
            except (OSError, http.client.HTTPException):
                status, answer = 0, None  # the service is gone, or has closed the connection
                connection.close()
            with self.lock:
                self.codes[status] = self.codes.get(status, 0) + 1
                if status and not self.check(name, is_corrupt, status, answer):
                    self.wrong.append((name, is_corrupt, status, answer))
        connection.close()

    def join(self):
        for thread in self.threads:
            thread.join()
        assert not self.wrong, self.wrong[:3]
        return self.codes


def stays_right_and_small_under_load(s, pictures, want, lanes=64):
    each = REQUESTS // lanes // 2
    first = Load(s, pictures, want, lanes, each).join()
    before = s.resident()
    codes = Load(s, pictures, want, lanes, each).join()
    after = s.resident()
    assert set(first) | set(codes) <= {200, 400, 503}, codes
    assert codes[200] > lanes * each * 0.5 and codes.get(400, 0) > 0, codes
    assert after - before < 4 << 20, (before, after)
    text = s.ask("GET", "/metrics")[2]
    subprocess.run([CHECK], input=text, check=True)
    print("answers", codes, "resident MiB", before >> 20, after >> 20)


def drains_under_load(pictures, want):
    s = serve("--drain", "30s")
    load = Load(s, pictures, want, 16, 30)
    while not load.codes.get(200):
        time.sleep(0.001)
    said = s.end()
    codes = load.join()
    assert set(codes) <= {0, 200, 400, 503} and codes[200] > 0, codes
    assert "cut off" not in said
    print("drained", codes)


def is_killed(pictures):
    s = serve(code=-signal.SIGKILL)
    port = s.port
    s.end(signal.SIGKILL)
    with serve("--listen", f"127.0.0.1:{port}") as again:  # the port is free
        assert again.port == port and again.json("POST", CLASSIFY, next(iter(pictures.values())))[0] == 200


def main():
    # What the address sanitizer keeps of freed memory is no growth of ours.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
    os.chdir(tempfile.mkdtemp())
    subprocess.run([sys.executable, "-B", HERE.parent / "nn/make_model.py", "resnet18", "--width", "0.125", "--image", str(SIDE),
                    "--classes", str(CLASSES), "--dynamic", "-o", "m.onnx"], check=True)
    pictures = make_pictures()
    want = expected()
    with serve("--slots", "200") as s:
        for test in (lambda: answers_as_the_command_does(s, pictures, want), lambda: takes_what_the_network_takes(s),
                     lambda: works_with_curl(s, pictures, want), lambda: stays_right_and_small_under_load(s, pictures, want)):
            start = time.monotonic()
            test()
            print(f"{time.monotonic() - start:6.2f} s", flush=True)
    for test in (lambda: drains_under_load(pictures, want), lambda: is_killed(pictures)):
        start = time.monotonic()
        test()
        print(f"{time.monotonic() - start:6.2f} s", flush=True)


if __name__ == "__main__":
    main()
