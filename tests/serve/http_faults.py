#!/usr/bin/env python3
"""http_faults.py FAKE CHECK: the HTTP service on a pipeline that does as it is told (fake_pipeline.c): what it says to every kind
of request, right and wrong, how it is loaded, how it ends. CHECK reads OpenMetrics strictly."""
import base64
import gzip
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

from service import Service

FAKE, CHECK = map(os.path.abspath, sys.argv[1:3])
CLASSIFY = "/v2/models/fake/classify"
INFER = "/v2/models/fake/infer"
K = 5


def fake(*options, **how):
    return Service([FAKE, "fake.onnx"], *options, **how)


def is_error(answer, status, text):
    got, body = answer
    assert got == status and list(body) == ["error"] and text in body["error"], (answer, status, text)


def classes(first, k=K):
    return [(first + i) % 10 for i in range(k)]


def b64(text):
    return base64.b64encode(text.encode()).decode()


def infer(data, shape=None, **more):
    return {"inputs": [{"name": "image", "datatype": "BYTES", "shape": shape or [len(data)], "data": data}], **more}


def release():
    pathlib.Path("release").touch()


def await_true(condition):
    for _ in range(4000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("it never comes true")


def await_inside(s, number):
    await_true(lambda: f"\nfullwarp_serve_slots_used {number}\n" in s.ask("GET", "/metrics")[2].decode())


class Held:
    """Requests that are inside until release()."""

    def __init__(self, s, number):
        pathlib.Path("release").unlink(missing_ok=True)
        self.answers = []
        self.threads = [threading.Thread(target=lambda: self.answers.append(s.json("POST", CLASSIFY, b"hold class 2"))) for _ in range(number)]
        for thread in self.threads:
            thread.start()
        await_inside(s, number)

    def join(self):
        for thread in self.threads:
            thread.join()
        return [status for status, _ in self.answers]


def says_what_it_is(s):
    assert s.json("GET", "/v2/health/live") == (200, {"live": True})
    assert s.json("GET", "/v2/models/fake/ready") == (200, {"ready": True, "state": "ready"})
    assert s.json("GET", "/v2/models/fake/versions/1/ready")[0] == 200
    status, about = s.json("GET", "/v2")
    assert status == 200 and about["name"] == "fullwarp-serve" and "binary_tensor_data" in about["extensions"]
    for path in ("/v2/models/fake", "/v2/models/fake/versions/1"):
        status, about = s.json("GET", path)
        assert status == 200 and about["name"] == "fake" and about["versions"] == ["1"]
        assert {"name": "image", "datatype": "BYTES", "shape": [-1, 1]} in about["inputs"]
        assert {"name": "tensor", "datatype": "FP32", "shape": [-1, 3, 4, 4]} in about["inputs"]
        assert [o["name"] for o in about["outputs"]] == ["class_id", "probability", "label"]
        assert all(o["shape"] == [-1, K] for o in about["outputs"])
    status, headers, body = s.ask("HEAD", "/v2")
    assert status == 200 and not body and int(headers["Content-Length"]) > 10


def knows_its_paths(s):
    for path in ("/", "/v2/models", "/v2/models/other", "/v2/models/fake/versions/2", "/v2/models/fake/versions/1/",
                 "/v2/models/fakeinfer", "/v2/health", "/v2/models/fake/infer/x", "/%00", "/v2/models/fake%2fother"):
        is_error(s.json("GET", path), 404, "there is no ")
    is_error(s.json("POST", "/v2/models/other/infer", b"{}"), 404, "the model is 'fake'")
    for method, path, allow in (("GET", CLASSIFY, "POST"), ("PUT", INFER, "POST"), ("DELETE", "/v2", "GET, HEAD"),
                                ("POST", "/metrics", "GET, HEAD")):
        status, headers, _ = s.ask(method, path, b"x" if method != "GET" else None)
        assert status == 405 and headers["Allow"] == allow, (method, path, status)


def tells_its_metrics(s):
    status, headers, text = s.ask("GET", "/metrics")
    assert status == 200 and headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    subprocess.run([CHECK], input=text, check=True)
    for line in ('fullwarp_serve_requests_total{endpoint="none",code="404"} ', 'fullwarp_serve_request_seconds_bucket{endpoint="classify",le="10.0"} ',
                 'fullwarp_serve_stage_seconds_bucket{stage="decode",le="+Inf"} ', "fullwarp_serve_memory_bound_bytes ", "process_resident_memory_bytes ",
                 'fullwarp_serve_build_info{version="', "fullwarp_serve_slots 64\n", "fullwarp_serve_batch_images_sum 0\n"):
        assert "\n" + line in text.decode() or text.decode().startswith(line), line


def classifies(s):
    for path in (CLASSIFY, "/v2/models/fake/versions/1/classify"):
        status, headers, body = s.ask("POST", path, b"wait 12 class 7", {"Content-Type": "image/jpeg"})
        answer = json.loads(body)
        assert status == 200 and [c["id"] for c in answer["classes"]] == classes(7)
        assert answer["classes"][0] == {"id": 7, "label": 'the "7"', "probability": 0.5}
        assert "compute;dur=12.000" in headers["Server-Timing"]
    assert len(s.json("POST", CLASSIFY + "?top=2", b"class 1")[1]["classes"]) == 2
    for top in ("0", "6", "x", "-1", "1.5", "99999999999999999999", ""):
        is_error(s.json("POST", CLASSIFY + "?top=" + top, b"class 1"), 400, "top is a number from 1 to 5")
    is_error(s.json("POST", CLASSIFY, b"corrupt"), 400, "corrupt")
    is_error(s.json("POST", CLASSIFY, b""), 400, "corrupt")
    is_error(s.json("POST", CLASSIFY, b"not-a-number"), 500, "not a number")
    is_error(s.json("POST", CLASSIFY, b"class 1", {"Content-Type": "text/html"}), 415, "image/jpeg")
    is_error(s.json("POST", CLASSIFY, b"class 1", {"Content-Encoding": "br"}), 415, "gzip or deflate")


def infers_json(s):
    ask = infer([b64("class 3"), b64("wait 5 class 9")], [2, 1], id="a\"b\\ü")
    status, answer = s.json("POST", INFER, json.dumps(ask))
    assert status == 200 and answer["id"] == "a\"b\\ü" and answer["model_name"] == "fake" and answer["model_version"] == "1"
    ids, probabilities, labels = answer["outputs"]
    assert (ids["name"], ids["datatype"], ids["shape"], ids["data"]) == ("class_id", "UINT32", [2, K], classes(3) + classes(9))
    assert (probabilities["name"], probabilities["datatype"], probabilities["data"]) == \
        ("probability", "FP32", [2.0 ** -(1 + i) for i in range(K)] * 2)
    assert labels["datatype"] == "BYTES" and labels["data"][K] == 'the "9"'
    ask = infer([b64("class 3")], parameters={"top": 2}, outputs=[{"name": "label"}, {"name": "probability", "parameters": {"classification": 3}}])
    answer = s.json("POST", INFER, json.dumps(ask))[1]
    assert [o["name"] for o in answer["outputs"]] == ["label", "probability"] and "id" not in answer
    assert answer["outputs"][0]["shape"] == [1, 2] and answer["outputs"][0]["data"] == ['the "3"', 'the "4"']
    assert answer["outputs"][1] == {"name": "probability", "datatype": "BYTES", "shape": [1, 3],
                                    "data": ['0.500000:3:the "3"', '0.250000:4:the "4"', '0.125000:5:the "5"']}
    tensor = [[[[float(7 - i) for i in range(4)]] * 4] * 3]
    for data in (tensor, [7] + [0] * 47, [[7] * 16, [0] * 32]):
        ask = {"inputs": [{"name": "tensor", "datatype": "FP32", "shape": [1, 3, 4, 4], "data": data}]}
        assert s.json("POST", INFER, json.dumps(ask))[1]["outputs"][0]["data"] == classes(7)
    is_error(s.json("POST", INFER, json.dumps(infer([b64("class 3"), b64("corrupt"), b64("corrupt")]))), 400, "image 1: corrupt")


def binary(asks, elements, outputs=None, **parameters):
    """The request's body and headers: BYTES, or FP32 where elements are lists of floats."""
    if isinstance(elements[0], bytes):
        data = b"".join(struct.pack("<I", len(e)) + e for e in elements)
        head = {"name": "image", "datatype": "BYTES", "shape": [len(elements), 1]}
    else:
        data = b"".join(struct.pack("<48f", *e) for e in elements)
        head = {"name": "tensor", "datatype": "FP32", "shape": [len(elements), 3, 4, 4]}
    head["parameters"] = {"binary_data_size": len(data)}
    text = json.dumps({"inputs": [head], "parameters": parameters, **({"outputs": outputs} if outputs else {})}).encode()
    return asks.ask("POST", INFER, text + data, {"Inference-Header-Content-Length": str(len(text)),
                                                 "Content-Type": "application/octet-stream"})


def tensors_of(answer):
    """{name: bytes or data} of an answer that may be binary."""
    status, headers, body = answer
    assert status == 200, body
    size = int(headers.get("Inference-Header-Content-Length", len(body)))
    found, at = {}, size
    for output in json.loads(body[:size])["outputs"]:
        n = output.get("parameters", {}).get("binary_data_size")
        found[output["name"]] = output["data"] if n is None else body[at:at + n]
        at += n or 0
    assert at == len(body)
    return found


def infers_binary(s):
    found = tensors_of(binary(s, [b"class 3", b"wait 3 class 8"], binary_data_output=True))
    assert struct.unpack("<10I", found["class_id"]) == tuple(classes(3) + classes(8))
    assert struct.unpack("<10f", found["probability"])[:2] == (0.5, 0.25)
    assert found["label"][:11] == struct.pack("<I", 7) + b'the "3"'
    found = tensors_of(binary(s, [[5.0] * 48] * 3, [{"name": "probability", "parameters": {"binary_data": True, "classification": 1}},
                                                   {"name": "class_id"}], top=1))
    assert found == {"class_id": [5, 5, 5], "probability": (struct.pack("<I", 18) + b'0.500000:5:the "5"') * 3}


def refuses_malformed_requests(s):
    good = infer([b64("class 3")])
    tensor = {"name": "tensor", "datatype": "FP32", "shape": [1, 3, 4, 4]}
    for body, text in (
            (b"", "JSON"), (b"{", "JSON"), (b"[]", "not an object"), (b"nul", "JSON"), (b"\xff\xd8\xff", "JSON"), (b'{"a":1,"a":2}', "JSON"),
            (b"[" * 40 + b"]" * 40, "deeper than 32"), (b'{"a":' * 10000, "deeper than 32"), (b"{} x", "JSON"), (b'{"id":"\\u0000"}', "JSON"),
            ({}, "'inputs' is a list of one"), ({"inputs": {}}, "one input"), ({"inputs": []}, "one input"), ({"inputs": good["inputs"] * 2}, "one input"),
            ({"inputs": [3]}, "no input ''"), ({"inputs": [{"name": "pixels"}]}, "no input 'pixels'"),
            ({"inputs": [{**good["inputs"][0], "datatype": "FP32"}]}, "datatype of 'image' is BYTES"),
            ({"inputs": [{**tensor, "datatype": "FP16", "data": []}]}, "datatype of 'tensor' is FP32"),
            (infer([]), "shape of 'image'"), (infer([b64("class 1")], [1, 2]), "shape of 'image'"), (infer([b64("class 1")], [0]), "shape of 'image'"),
            (infer([b64("class 1")], [-1]), "shape"), (infer([b64("class 1")], ["1"]), "shape"), (infer([b64("class 1")], [1.0]), "shape"),
            (infer([b64("class 1")], [2]), "'data' has 1 elements, its shape 2"), (infer([b64("class 1")] * 9), "9 images in one request: at most 8"),
            (infer([b64("class 1")], [2 ** 62]), "at most 8"), (infer([b64("class 1")], [2 ** 70]), "JSON"),
            (infer(["a*=="]), "element 0 of 'data' is not"), (infer(["abcde"]), "element 0"), (infer([3]), "element 0"), (infer([["a", "b"]]), "element 0"),
            ({"inputs": [{"name": "image", "datatype": "BYTES", "shape": [1]}]}, "either 'data' or 'binary_data_size'"),
            ({"inputs": [{**tensor, "shape": [1, 3, 4, 5], "data": [0] * 60}]}, "[n, 3, 4, 4]"), ({"inputs": [{**tensor, "shape": [3, 4, 4], "data": [0] * 48}]}, "[n, 3, 4, 4]"),
            ({"inputs": [{**tensor, "data": [0] * 47}]}, "48 numbers"), ({"inputs": [{**tensor, "data": [0] * 49}]}, "48 numbers"),
            ({"inputs": [{**tensor, "data": [0] * 47 + ["x"]}]}, "48 numbers"), ({"inputs": [{**tensor, "data": [0] * 47 + [1e300]}]}, "48 numbers"),
            ({"inputs": [{**tensor, "data": [[[[[0]]]]] * 48}]}, "48 numbers"), ({"inputs": [{**tensor, "data": 3}]}, "48 numbers"),
            ({**good, "parameters": 3}, "'parameters' is not an object"), ({**good, "parameters": {"top": 6}}, "'top' is a whole number from 0 to 5"),
            ({**good, "parameters": {"timeout": -1}}, "'timeout'"), ({**good, "parameters": {"timeout": "1"}}, "'timeout'"), ({**good, "parameters": {"top": 0}}, "'top' is 0"),
            ({**good, "parameters": {"binary_data_output": 1}}, "true or false"), ({**good, "id": 3}, "'id'"), ({**good, "id": "x" * 256}, "'id'"),
            ({**good, "outputs": {}}, "'outputs' is not a list"), ({**good, "outputs": [{"name": "scores"}]}, "no output 'scores'"), ({**good, "outputs": [3]}, "no output ''"),
            ({**good, "outputs": [{"name": "class_id"}] * 2}, "wanted twice"), ({**good, "outputs": [{"name": "class_id", "parameters": {"classification": 1}}]}, "for the output 'probability'"),
            ({**good, "outputs": [{"name": "probability", "parameters": {"classification": 6}}]}, "'classification'"),
            ({"inputs": [{**good["inputs"][0], "parameters": {"binary_data_size": 3}}]}, "either 'data'"), ({"inputs": [{**tensor, "parameters": {"binary_data_size": 192}}]}, "0 bytes follow"),
    ):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        is_error(s.json("POST", INFER, body), 400, text)
    text = json.dumps({"inputs": [{"name": "image", "datatype": "BYTES", "shape": [2], "parameters": {"binary_data_size": 20}}]}).encode()
    for data, length, why in ((struct.pack("<I", 7) + b"class 1", len(text), "11 bytes follow"), (b"x" * 20, len(text), "image 0 of the binary data ends past"),
                              (struct.pack("<I", 7) + b"class 1" + b"x" * 9, len(text), "image 1"), (struct.pack("<I", 7) + b"class 1" + struct.pack("<I", 4) + b"x" * 5, len(text), "1 bytes follow the last"),
                              (b"x" * 20, len(text) + 21, "the body has"), (b"x" * 20, len(text) - 1, "JSON"), (b"x" * 20, "x", "not a size"), (b"x" * 20, -1, "not a size"), (b"x" * 20, 2 ** 65, "not a size")):
        is_error(s.json("POST", INFER, text + data, {"Inference-Header-Content-Length": str(length)}), 400, why)
    body = json.dumps(good).encode()
    is_error(s.json("POST", INFER, body + b"extra", {"Inference-Header-Content-Length": str(len(body))}), 400, "no input says binary_data_size")
    assert s.json("POST", INFER, json.dumps(good))[0] == 200


def bounds_what_it_reads(s):
    """--max-body 64K."""
    for body in (b"x" * 65537, iter([b"x" * 1000] * 66)):
        is_error(s.json("POST", CLASSIFY, body), 413, "larger than the 65536 bytes")
    is_error(s.json("POST", CLASSIFY, gzip.compress(b"x" * 65536)), 400, "corrupt")  # not said to be gzip
    for encoding, pack in (("gzip", gzip.compress), ("deflate", zlib.compress), ("GZIP", gzip.compress)):
        head = {"Content-Encoding": encoding}
        assert s.json("POST", CLASSIFY, pack(b"class 4"), head)[1]["classes"][0]["id"] == 4
        is_error(s.json("POST", CLASSIFY, pack(b"x" * 65536), head), 400, "corrupt")
        is_error(s.json("POST", CLASSIFY, pack(b"x" * 65537), head), 413, "larger than")
        is_error(s.json("POST", CLASSIFY, pack(b"x" * 8_000_000), head), 413, "larger than")
        is_error(s.json("POST", CLASSIFY, pack(b"class 4")[:-3], head), 400, "ends in the middle")
        is_error(s.json("POST", CLASSIFY, pack(b"class 4") + b"x", head), 400, "bytes follow the end")
        is_error(s.json("POST", CLASSIFY, b"class 4", head), 400, "not gzip or deflate")
    bad = bytearray(gzip.compress(os.urandom(500)))
    bad[-5] ^= 1
    is_error(s.json("POST", CLASSIFY, bytes(bad), {"Content-Encoding": "gzip"}), 400, "not gzip or deflate")
    # 60000 numbers: the tree would take more than the four times max-body that it may.
    numbers = {"inputs": [{"name": "tensor", "datatype": "FP32", "shape": [1, 3, 4, 4], "data": [1] * 20000}]}
    is_error(s.json("POST", INFER, json.dumps(numbers, separators=(",", ":"))), 413, "send tensors as binary")
    status, _, _ = s.ask("GET", "/v2/" + "x" * 40000)
    assert status in (414, 431, 413)
    connection = s.connect()  # one connection through all of that
    for body, want in ((b"class 1", 200), (b"x" * 70000, 413), (b"corrupt", 400), (b"class 2", 200)):
        assert s.ask("POST", CLASSIFY, body, connection=connection)[0] == want
    connection.close()


def needs_no_more_than_a_client_sends(s):
    with s.raw() as raw:  # a promise of bytes holds no memory
        raw.sendall(b"POST " + CLASSIFY.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\nclass")
        time.sleep(0.05)
        text = s.ask("GET", "/metrics")[2].decode()
        assert float(text.split("\nfullwarp_serve_body_bytes ")[1].split("\n")[0]) <= 65536
    with s.raw() as raw:  # 100 Continue is not for what is not wanted
        raw.sendall(b"POST " + CLASSIFY.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\nExpect: 100-continue\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 413")


def ends_what_takes_too_long(s):
    """--deadline 100ms."""
    start = time.monotonic()
    is_error(s.json("POST", CLASSIFY, b"wait 120 class 1"), 504, "its time was over")
    assert time.monotonic() - start < 3
    is_error(s.json("POST", CLASSIFY + "?timeout_ms=5", b"wait 10 class 1"), 504, "time")
    assert s.json("POST", CLASSIFY + "?timeout_ms=5000", b"wait 10 class 1")[0] == 200
    is_error(s.json("POST", CLASSIFY + "?timeout_ms=5000", b"wait 110 class 1"), 504, "time")  # no more than --deadline
    is_error(s.json("POST", INFER, json.dumps(infer([b64("wait 10 class 1")], parameters={"timeout": 5000}))), 504, "time")
    is_error(s.json("POST", CLASSIFY + "?timeout_ms=x", b"class 1"), 400, "timeout_ms")


def refuses_when_it_is_full():
    with fake("--slots", "2", "--max-images", "8", "--deadline", "0") as s:
        held = Held(s, 2)
        status, headers, body = s.ask("POST", CLASSIFY, b"class 1")
        assert status == 503 and headers["Retry-After"] == "1" and b"slots are taken" in body and "close" not in headers.get("Connection", "")
        release()
        assert held.join() == [200, 200]
        # Three can never be inside together.
        is_error(s.json("POST", INFER, json.dumps(infer([b64("class 1")] * 3))), 400, "3 images in one request: at most 2")
        held = Held(s, 1)
        is_error(s.json("POST", INFER, json.dumps(infer([b64("class 1")] * 2))), 503, "slots are taken")  # one of them was in
        release()
        assert held.join() == [200] and s.json("POST", INFER, json.dumps(infer([b64("class 1")] * 2)))[0] == 200


def is_live_before_it_is_ready():
    pathlib.Path("release").unlink(missing_ok=True)
    pathlib.Path("slow.onnx").write_text("load hold")
    with Service([FAKE, "slow.onnx", "--name", "fake"], ready=False) as s:
        assert s.json("GET", "/v2/health/live") == (200, {"live": True})
        while "starting" in s.json("GET", "/v2/health/ready")[1]["error"]:
            time.sleep(0.005)
        for path in ("/v2/health/ready", "/v2/models/fake/ready"):
            status, headers, body = s.ask("GET", path)
            assert status == 503 and json.loads(body) == {"ready": False, "state": "loading", "error": "not ready: reading tea leaves"}
            assert headers["Retry-After"] == "1"
        is_error(s.json("GET", "/v2/models/fake"), 503, "being loaded")
        is_error(s.json("POST", CLASSIFY, b"class 1"), 503, "not ready: reading tea leaves")
        assert "fullwarp_serve_ready 0" in s.ask("GET", "/metrics")[2].decode()
        release()
        s.await_ready()
        assert s.json("POST", CLASSIFY, b"class 1")[0] == 200
    pathlib.Path("release").unlink()
    with Service([FAKE, "slow.onnx"], ready=False) as s:
        s.end()  # told to end while it loads, which it does not wait for
    pathlib.Path("bad.onnx").write_text("load 10 fail")
    with Service([FAKE, "bad.onnx"], ready=False, code=1) as s:
        s.process.wait(10)
        assert "the model is bad" in s.end()
    pathlib.Path("few").write_text("one\ntwo\n")
    with Service([FAKE, "fake.onnx", "--labels", "few"], ready=False, code=1) as s:
        s.process.wait(10)
        assert "few: 2 labels, but fake.onnx has 10 classes" in s.end()


def drains_and_ends():
    with fake("--drain", "30s", "--deadline", "0", "--http-threads", "1") as s:
        held = Held(s, 8)
        kept = s.connect()
        assert s.ask("GET", "/v2", connection=kept)[0] == 200
        s.process.send_signal(signal.SIGTERM)
        while s.json("GET", "/v2/health/ready")[0] == 200:
            time.sleep(0.005)
        assert s.json("GET", "/v2/health/ready") == (503, {"ready": False, "state": "draining", "error": "the service is ending"})
        status, headers, _ = s.ask("POST", CLASSIFY, b"class 1", connection=kept)
        assert status == 503 and headers["Connection"] == "close"
        assert s.json("GET", "/v2/health/live")[0] == 200
        release()
        assert held.join() == [200] * 8
        assert "cut off" not in s.end()
    with fake("--drain", "100ms", "--deadline", "0") as s:  # not all are done in time
        held = Held(s, 1)
        start = time.monotonic()
        assert "some requests were cut off" in s.end(signal.SIGINT)
        assert time.monotonic() - start < 9
        held.join()
        is_error(held.answers[0], 503, "ending")


def ends_with_its_engine():
    with fake("--deadline", "0", code=3) as s:
        held = Held(s, 1)
        is_error(s.json("POST", CLASSIFY, b"break"), 503, "the device is lost")
        status, answer = s.json("GET", "/v2/health/ready")
        assert status == 503 and answer["state"] == "broken" and "the device is lost" in answer["error"]
        is_error(s.json("POST", CLASSIFY, b"class 1"), 503, "the device is lost")
        release()
        assert held.join() == [200]
        s.process.wait(10)
        assert "the device is lost" in s.end()


def looks_after_its_engine():
    with fake(code=3) as s:
        is_error(s.json("POST", CLASSIFY, b"lose"), 400, "corrupt")
        s.process.wait(20)
        assert "lost in silence" in s.end()


def asks_for_a_token():
    pathlib.Path("tokens").write_text("0123456789abcdef\n\nanother-token-of-29-characters\r\n")
    with fake("--token-file", "tokens") as s:
        for token, want in (("Bearer 0123456789abcdef", 200), ("bearer another-token-of-29-characters", 200), ("Bearer 0123456789abcdeF", 401),
                            ("Bearer 0123456789abcde", 401), ("Bearer 0123456789abcdef0", 401), ("Bearer ", 401), ("Basic 0123456789abcdef", 401),
                            ("0123456789abcdef", 401), ("Bearer 0123456789abcdef\tanother-token-of-29-characters", 401), (None, 401)):
            headers = {"Authorization": token} if token else {}
            for method, path, body in (("POST", CLASSIFY, b"class 1"), ("GET", "/v2", None), ("GET", "/metrics", None), ("GET", "/v2/models/fake", None)):
                status, got, _ = s.ask(method, path, body, headers)
                assert status == want and (want == 200 or got["WWW-Authenticate"] == "Bearer"), (token, path, status)
            assert s.ask("GET", "/nothing", None, headers)[0] == (404 if want == 200 else 401)
        assert s.ask("GET", "/v2/health/live")[0] == s.ask("GET", "/v2/health/ready")[0] == 200
    for text, why in (("short\n", "token 1 has fewer than 16"), ("\n\n", "there is no token"), ("", "there is no token")):
        pathlib.Path("tokens").write_text(text)
        try:
            fake("--token-file", "tokens", ready=False)
        except AssertionError as e:
            assert why in str(e), e
        else:
            raise AssertionError("a bad token file")


def is_patient_only_so_long():
    """Clients that trickle bytes, send nothing, or do not read, with --timeout 250ms."""
    head = b"POST " + CLASSIFY.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"
    with fake("--timeout", "250ms", "--max-connections", "8") as s:
        silent, header, body, idle = (s.raw() for _ in range(4))
        idle.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        body.sendall(head + b"\r\n")
        start, ends = time.monotonic(), {}
        sockets = {"silent": silent, "header": header, "body": body, "idle": idle}
        while len(ends) < 4 and time.monotonic() - start < 20:
            for name, sock in sockets.items():
                if name in ends:
                    continue
                try:
                    if name in ("header", "body"):
                        sock.sendall(b"x")
                    sock.settimeout(0.01)
                    while sock.recv(1000):
                        pass
                    ends[name] = time.monotonic() - start
                except socket.timeout:
                    pass
                except OSError:
                    ends[name] = time.monotonic() - start
            time.sleep(0.02)
        assert len(ends) == 4 and all(0.2 < t < 5 for t in ends.values()), ends
        # Who waits for the pipeline is not slow.
        assert s.json("POST", CLASSIFY, b"wait 500 class 1")[0] == 200
        assert "fullwarp_serve_slow_connections_total 4" in s.ask("GET", "/metrics")[2].decode()


def keeps_what_a_client_left_behind():
    """Who goes away leaves bytes that the pipeline still reads; one that libmicrohttpd does not see leave is late."""
    with fake("--deadline", "0", "--timeout", "300ms") as s:
        for _ in range(20):
            raw = s.raw()
            body = b"wait 100 class 1" + b"x" * 500
            raw.sendall(b"POST " + CLASSIFY.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body)
            time.sleep(0.002)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raw.close()
        for _ in range(20):
            raw = s.raw()
            raw.sendall(b"POST " + CLASSIFY.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nclass")
            raw.close()
        for i in range(2000):
            text = s.ask("GET", "/metrics")[2].decode()
            if "\nfullwarp_serve_exchanges 1\n" in text and "\nfullwarp_serve_body_bytes 0\n" in text:
                break
            time.sleep(0.01)
        assert i < 1999, text
        assert 'endpoint="classify",code="499"} ' in text


def logs_every_request():
    log = pathlib.Path("access.log")
    with fake("--access-log", "access.log", "--http-threads", "1") as s:
        s.ask("POST", CLASSIFY, b"wait 30 class 1")
        s.ask("GET", "/v2/%22%0a%ff\\?secret=1")
        s.ask("POST", INFER, json.dumps(infer([b64("class 1"), b64("class 2")])))
        await_true(lambda: '"path":"/v2/models/fake/infer"' in log.read_text())
        log.rename("access.log.1")
        s.process.send_signal(signal.SIGHUP)
        await_true(log.exists)
        s.ask("GET", "/v2")
        s.end()
        old, new = (pathlib.Path(n).read_text().splitlines() for n in ("access.log.1", "access.log"))
    lines = [json.loads(line) for line in old if "health" not in line]
    assert [(x["method"], x["path"], x["status"]) for x in lines] == \
        [("POST", CLASSIFY, 200), ("GET", '/v2/"\n�\\', 404), ("POST", INFER, 200)]
    first = lines[0]
    assert first["bytes_in"] == 15 and first["bytes_out"] > 50 and 30 <= first["total_ms"] < 5000 and first["images"] == 1 and first["batch"] == 1
    assert first["stages_ms"]["compute"] == 30 and first["client"].startswith("127.0.0.1:") and lines[2]["images"] == 2
    assert first["time"][:2] == "20" and first["time"].endswith("Z") and "stages_ms" not in lines[1]
    assert len(new) == 1 and json.loads(new[0])["path"] == "/v2"


def serves_many_at_once():
    """32 connections; every tenth image is corrupt; each gets its own answer."""
    wrong = []

    def lane(s, number):
        connection = s.connect()
        for i in range(25):
            want = (number * 7 + i) % 10
            body = b"corrupt" if i % 10 == 3 else f"wait {i % 3} class {want}".encode()
            status, answer = s.json("POST", CLASSIFY, body, connection=connection)
            if status != (400 if i % 10 == 3 else 200) or (status == 200 and answer["classes"][0]["id"] != want):
                wrong.append((number, i, status, answer))
        connection.close()

    with fake("--max-connections", "64", "--http-threads", "3") as s:
        lanes = [threading.Thread(target=lane, args=(s, i)) for i in range(32)]
        for thread in lanes:
            thread.start()
        for thread in lanes:
            thread.join()
        assert not wrong, wrong[:5]
        await_true(lambda: all(f'endpoint="classify",code="{code}"}} {n}\n' in s.ask("GET", "/metrics")[2].decode()
                               for code, n in ((200, 704), (400, 96))))  # counted after they were sent


def main():
    os.chdir(tempfile.mkdtemp())
    pathlib.Path("fake.onnx").write_text("load 0")
    pathlib.Path("labels").write_text("".join(f'the "{i}"\n' for i in range(10)))
    with fake("--labels", "labels", "--max-images", "8", "--max-body", "64K", "--body-memory", "1M", "--deadline", "100ms") as s:
        for test in (says_what_it_is, knows_its_paths, classifies, tells_its_metrics, infers_json, infers_binary, refuses_malformed_requests,
                     bounds_what_it_reads, needs_no_more_than_a_client_sends, ends_what_takes_too_long):
            start = time.monotonic()
            test(s)
            print(f"{time.monotonic() - start:6.2f} s {test.__name__}", flush=True)
    for test in (refuses_when_it_is_full, is_live_before_it_is_ready, drains_and_ends, ends_with_its_engine, looks_after_its_engine, asks_for_a_token,
                 is_patient_only_so_long, keeps_what_a_client_left_behind, logs_every_request, serves_many_at_once):
        start = time.monotonic()
        test()
        print(f"{time.monotonic() - start:6.2f} s {test.__name__}", flush=True)


if __name__ == "__main__":
    main()
