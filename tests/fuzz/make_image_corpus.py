#!/usr/bin/env python3
"""make_image_corpus.py WRITE_JPEG CORPUS: writes the small pictures that fuzz_jpeg, fuzz_png and fuzz_exif start from.

WRITE_JPEG is build/*/tests/pipeline/write_jpeg. Needs Pillow.
"""
import pathlib
import struct
import subprocess
import sys

from PIL import Image


def draw(w, h):
    return bytes((x * 37 + y * 11 + c * 50) & 255 for y in range(h) for x in range(w) for c in range(3))


def main():
    writer, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    for name in ("jpeg", "png", "exif"):
        (corpus / name).mkdir(parents=True, exist_ok=True)
    for sampling, space, mode, size in (("1x1", "ycc", "baseline", (17, 9)), ("2x2", "ycc", "progressive", (33, 20)),
                                        ("4x1", "ycc", "restart", (70, 9)), ("1x2", "ycc", "baseline", (9, 33)),
                                        ("1x1", "grey", "progressive", (20, 17)), ("1x1", "rgb", "baseline", (8, 8)),
                                        ("1x1", "cmyk", "baseline", (8, 8))):
        command = [writer, str(size[0]), str(size[1]), sampling, space, mode]
        data = subprocess.run(command, input=draw(*size), stdout=subprocess.PIPE, check=True).stdout
        (corpus / "jpeg" / f"{space}-{sampling}-{mode}.jpg").write_bytes(data)
    picture = Image.frombytes("RGB", (31, 17), draw(31, 17))
    exif = Image.Exif()
    exif[0x0112] = 6
    picture.save(corpus / "png" / "rgb.png", exif=exif)
    picture.quantize(16).save(corpus / "png" / "palette.png", bits=4)
    picture.convert("LA").save(corpus / "png" / "grey-alpha.png")
    picture.convert("1").save(corpus / "png" / "bilevel.png")
    exif.endian = ">"
    (corpus / "exif" / "big-endian").write_bytes(exif.tobytes()[6:])
    entry = struct.pack("<HHIHH", 0x0112, 3, 1, 8, 0)
    (corpus / "exif" / "little-endian").write_bytes(b"II*\0" + struct.pack("<IH", 8, 1) + entry + bytes(4))
    picture.save(corpus / "exif" / "inside.jpg", exif=exif, quality=20)


main()
