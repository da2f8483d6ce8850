"""ranges.py FULLWARP_SERVE INJECT_LIBRARY: the stages of the pipeline are NVTX ranges, which the injected library records. Exits
77 where the program was built without NVIDIA's headers."""
import collections
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
import read_recording  # noqa: E402

SERVE, LIBRARY = sys.argv[1:3]
IMAGES = 5


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def write_png(path, side, grey):
    rows = b"".join(b"\0" + bytes((grey + x + y) % 256 for x in range(side)) for y in range(side))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        model, record = work / "m.onnx", work / "record"
        record.mkdir()
        for i in range(IMAGES):
            write_png(work / f"{i}.png", 40, 20 * i)
        subprocess.run([sys.executable, "-B", HERE.parent / "nn/make_model.py", "resnet18", "--width", "0.125", "--image", "32",
                        "--classes", "10", "--dynamic", "-o", model], check=True, stdout=subprocess.DEVNULL)
        env = dict(os.environ, NVTX_INJECTION64_PATH=LIBRARY, FULLWARP_RECORD_DIR=str(record))
        done = subprocess.run([SERVE, "classify", model, work, "--engine", "onednn", "--batch", "1", "--quiet"], env=env,
                              capture_output=True, text=True, timeout=100, check=False)
        if "not built in" in done.stderr:
            sys.exit(77)
        assert done.returncode == 0, done.stderr
        files = read_recording.read_folder(str(record))
        if not files:
            print("skipped: built without nvtx3/nvToolsExt.h")
            sys.exit(77)
        ranges = files[0].of("range")
        counts = collections.Counter(r.name for r in ranges)
        assert counts == {"decode": IMAGES, "compute": IMAGES, "answer": IMAGES}, counts
        assert all(r.end > r.start for r in ranges), ranges


main()
