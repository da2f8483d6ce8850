#!/usr/bin/env python3
"""classify.py FULLWARP_SERVE: `fullwarp-serve classify` on pictures made here, beside Pillow's decoding, torchvision's sums
for resize and crop, and ONNX Runtime where it is there (else the same engine on Pillow's pixels). Exits 77 where Pillow
or numpy is missing or the engine is left out."""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
ORACLE = os.environ.get("FW_ORACLE_PYTHON") or str(HERE.parents[1] / ".venv/bin/python")
MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
SIDE, CLASSES, PICTURES = 64, 10, 24
RESIZE = 73  # 64 * 8 / 7
# A level of a picture that is scaled down while it is decoded may differ from Pillow's by 3 of 255, by 1 on average; what
# that does to a probability is 0.011 at most here; where nothing is scaled, it is under 0.001.
NEAR = 0.02
SERVE = None


def classify(*args, code=0, stdin=None):
    """Standard output and error; the exit code must be the one given."""
    run = subprocess.run([SERVE, "classify", *args], capture_output=True, text=True, errors="surrogateescape",
                         check=False, input=stdin)
    assert run.returncode == code, (args, run.returncode, run.stdout[-500:], run.stderr)
    return run.stdout, run.stderr


def rows_of(text):
    """CSV to {image: (error, [(class, probability)])} in its order."""
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    step = 3 if "label_1" in header else 2
    return {row[0]: (row[1], [(int(row[i]), float(row[i + step - 1])) for i in range(2, len(row), step) if row[i]])
            for row in rows}


def draw(number):
    """Smooth, so that a resize's rounding does not matter; each differs from the others."""
    rng = np.random.default_rng(number)
    width, height = (int(n) for n in rng.integers(40, 400, 2))
    small = Image.fromarray(rng.integers(0, 256, (5, 5, 3)).astype(np.uint8))
    return small.resize((width, height), Image.BICUBIC)


def make_pictures(folder):
    names = []
    for i in range(PICTURES):
        name = f"{i:03}.{('jpg', 'png', 'JPEG', 'jpg')[i % 4]}"
        picture = draw(i)
        if i % 10 == 3:
            picture = picture.convert("L")
        picture.save(folder / name, **({} if name.endswith("png") else {"quality": 92, "subsampling": i % 3}))
        names.append(name)
    return names


def pixels(path):
    """What torchvision's Resize and CenterCrop make of it, n x c x h x w."""
    image = Image.open(path).convert("RGB")
    w, h = image.size
    size = (RESIZE, int(RESIZE * h / w)) if w <= h else (int(RESIZE * w / h), RESIZE)
    image = image.resize(size, Image.BILINEAR)
    left, top = (int(round((n - SIDE) / 2.0)) for n in image.size)
    levels = np.asarray(image)[top:top + SIDE, left:left + SIDE] / 255.0
    return ((levels - MEAN) / STD).transpose(2, 0, 1).astype(np.float32)


def oracle_scores(model, samples):
    np.save("samples.npy", samples)
    code = ("import numpy, onnxruntime as o; o.set_default_logger_severity(3); s = o.InferenceSession('%s', providers=['CPUExecutionProvider']);"
            "numpy.save('scores.npy', s.run(None, {s.get_inputs()[0].name: numpy.load('samples.npy')})[0])" % model)
    if not os.access(ORACLE, os.X_OK) or subprocess.run([ORACLE, "-c", code], capture_output=True, check=False).returncode:
        print("no ONNX Runtime: compared with the same engine on Pillow's pixels")
        subprocess.run([SERVE, "run", model, "--engine", "onednn", "--input", "samples.npy", "--output", "scores.npy",
                        "--batch", "8"], check=True, capture_output=True)
    return np.load("scores.npy").reshape(len(samples), CLASSES)


def equals_the_oracle(names):
    scores = oracle_scores("m.onnx", np.stack([pixels("in/" + n) for n in names])).astype(np.float64)
    want = np.exp(scores - scores.max(1, keepdims=True))
    want /= want.sum(1, keepdims=True)
    got = rows_of(classify("m.onnx", "in", "--top", str(CLASSES))[0])
    assert list(got) == ["in/" + n for n in names]  # in the order of the names
    tops = set()
    for row, (error, classes) in zip(want, got.values()):
        assert not error and sorted(c for c, _ in classes) == list(range(CLASSES))
        assert all(a[1] >= b[1] for a, b in zip(classes, classes[1:]))
        assert all(abs(p - row[c]) < NEAR for c, p in classes), (classes, row)
        assert row[classes[0][0]] > row.max() - NEAR
        tops.add(classes[0][0])
    assert len(tops) > 2, "the pictures do not differ"


def is_the_same_however_it_is_run():
    want = rows_of(classify("m.onnx", "in")[0])
    for how in (["--workers", "1", "--batch", "1"], ["--workers", "3", "--batch", "7", "--decode-threads", "3"]):
        got = rows_of(classify("m.onnx", "in", *how)[0])
        assert list(got) == list(want)
        for image, (_, classes) in got.items():
            assert [c for c, _ in classes] == [c for c, _ in want[image][1]]
            assert all(abs(a[1] - b[1]) < 1e-4 for a, b in zip(classes, want[image][1]))
    lines = [json.loads(line) for line in classify("m.onnx", "in", "--format", "jsonl", "--labels", "labels")[0].splitlines()]
    for line, (image, (_, classes)) in zip(lines, want.items(), strict=True):
        assert line["image"] == image and [c["id"] for c in line["classes"]] == [c for c, _ in classes]
        assert all(c["label"] == f'the "{c["id"]}", or so' for c in line["classes"])


def answers_each_with_its_own(names):
    """400 images, of which each twentieth cannot be decoded."""
    pathlib.Path("cut.jpg").write_bytes(pathlib.Path("in/" + names[0]).read_bytes()[:-400])
    want = rows_of(classify("m.onnx", "in", "--workers", "1", "--batch", "1", "--decode-threads", "1")[0])
    asked = ["cut.jpg" if i % 20 == 0 else "in/" + names[i * 7 % PICTURES] for i in range(400)]
    out, err = classify("m.onnx", "--list", "-", stdin="\n".join(asked), code=1)
    rows = list(csv.reader(io.StringIO(out)))[1:]
    assert [row[0] for row in rows] == asked
    for row in rows:
        if row[0] == "cut.jpg":
            assert "JPEG" in row[1] and not any(row[2:])
        else:
            assert [int(c) for c in row[2::2]] == [c for c, _ in want[row[0]][1]]
            assert all(abs(float(p) - w) < 1e-4 for p, (_, w) in zip(row[3::2], want[row[0]][1]))
    assert "380 images classified, 20 failed" in err and err.count("cut.jpg") == 20


def reads_any_name_and_tells_what_it_cannot_read(names):
    picture = pathlib.Path("in/" + names[0]).read_bytes()
    folder = pathlib.Path("odd")
    (folder / "deep/er").mkdir(parents=True)
    good = ["-v.jpg", " .jpg", 'a,"b".jpg', "line\nfeed.jpg", "\x1b[31m.jpg", "ü.JPG", "deep/er/x.jpg"]
    for name in good:
        (folder / name).write_bytes(picture)
    (folder / os.fsdecode(b"\xff\xfe.jpg")).write_bytes(picture)
    for name in ("notes.txt", "jpg", ".jpg"):
        (folder / name).write_bytes(b"not an image")
    (folder / "deep/loop").symlink_to(folder.resolve(), target_is_directory=True)
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "text.png").write_bytes(b"GIF89a text")
    os.mkfifo(folder / "pipe.jpg")
    (folder / "gone.jpg").symlink_to("nowhere")
    out, err = classify("m.onnx", "odd", "absent.jpg", "odd/notes.txt", code=1)
    rows = rows_of(out)
    bad = {"odd/empty.jpg", "odd/text.png", "odd/pipe.jpg", "odd/gone.jpg", "absent.jpg", "odd/notes.txt"}
    assert {name for name, (error, _) in rows.items() if error} == bad, rows
    assert len(rows) == len(good) + 1 + len(bad)
    assert all("odd/" + name in rows for name in good)
    assert "6 failed" in err and "4 other files" in err and "odd/pipe.jpg: not a regular file" in err, err
    out, err = classify("m.onnx", "odd/\x1b[31m.jpg\x1b", code=1)
    assert "\x1b" not in err  # of a name, on a terminal
    lines = classify("m.onnx", "odd", "--format", "jsonl", code=1)[0].splitlines()
    assert len([json.loads(line) for line in lines]) == len(rows) - 2
    os.mkdir("void")
    assert "there is no image" in classify("m.onnx", "void", code=1)[1]
    assert len(rows_of(classify("m.onnx", "void", "in/" + names[0])[0])) == 1


def goes_on_where_it_was_stopped():
    for form in ("csv", "jsonl"):
        args = ["m.onnx", "odd", "in", "--format", form, "--workers", "1", "--batch", "1", "--top", "2"]
        classify(*args, "-o", "whole", code=1)
        whole = pathlib.Path("whole").read_bytes()
        for cut in (5, len(whole) // 2, len(whole) - 1, len(whole)):
            pathlib.Path("part").write_bytes(whole[:cut])
            err = resume(args)
            assert pathlib.Path("part").read_bytes() == whole, (form, cut, err)
        assert "have their row already" in err and " 0 failed" in err
    for text in ("image,error,class_1\nx,,1\n", "hello", "imagine"):
        pathlib.Path("part").write_text(text)
        err = classify("m.onnx", "in", "-o", "part", "--resume", code=1)[1]
        assert "does not begin as the output" in err and pathlib.Path("part").read_text() == text
    header = b"image,error,class_1,probability_1\n"
    pathlib.Path("part").write_bytes(header + b"no comma\n")
    assert "byte 34: not a row" in classify("m.onnx", "in", "-o", "part", "--resume", "--top", "1", code=1)[1]


def resume(args):
    """The exit code depends on whether a bad file is left."""
    run = subprocess.run([SERVE, "classify", *args, "-o", "part", "--resume"], capture_output=True, text=True,
                         errors="replace", check=False)
    assert run.returncode in (0, 1) and (run.returncode == 0) == (" 0 failed" in run.stderr), run
    return run.stderr


def refuses_what_it_cannot_do(names):
    one = "in/" + names[0]
    pathlib.Path("few").write_text("a\nb")
    pathlib.Path("nul").write_bytes(b"in/a.jpg\0b\n")
    for args, what in ((["m.onnx", one, "--engine", "magic"], "engine is 'magic': there are onednn, cudnn"),
                       (["absent.onnx", one], "absent.onnx"), (["labels", one], "labels"),
                       (["m.onnx", one, "--labels", "few"], "few: 2 labels, but m.onnx has 10 classes"),
                       (["m.onnx", one, "--labels", "absent"], "absent"), (["m.onnx", "--list", "nul"], "line 1"),
                       (["m.onnx", one, "-o", "no/where"], "no/where"), (["m.onnx", one, "-o", "/dev/full"], "/dev/full")):
        out, err = classify(*args, code=1)
        assert what in err and not out, (args, err)


def runs_what_its_page_shows(names):
    page = (HERE.parents[1] / "docs/classify.md").read_text()
    commands = [line[2:] for line in page.splitlines() if line.startswith("$ ")]
    assert len(commands) == 3
    os.mkdir("photos")
    os.rename("m.onnx", "model.onnx")
    os.rename("labels", "labels.txt")
    for name, number in (("cat.jpg", 0), ("dog.png", 1)):
        os.link("in/" + names[number], "photos/" + name)
    env = {**os.environ, "PATH": f"{os.path.dirname(SERVE)}:{os.environ['PATH']}"}
    for command, lines in zip(commands, (0, 2, 2)):
        run = subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True, check=True)
        assert len(run.stdout.splitlines()) in (lines, lines + ("csv" not in command and "jsonl" not in command)), run
    assert pathlib.Path("classes.csv").read_text().startswith(page.split("table like this one:\n\n```\n")[1].split("\n")[0])


def main():
    global SERVE  # pylint: disable=global-statement
    SERVE = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        make = [sys.executable, "-B", str(HERE.parent / "nn/make_model.py"), "resnet18", "--width", "0.125", "--image", str(SIDE)]
        subprocess.run([*make, "--classes", str(CLASSES), "--dynamic", "-o", "m.onnx"], check=True)
        os.mkdir("in")
        names = make_pictures(pathlib.Path("in"))
        pathlib.Path("labels").write_text("".join(f'the "{i}", or so\n' for i in range(CLASSES)))
        probe = subprocess.run([SERVE, "classify", "m.onnx", "in/" + names[0]], capture_output=True, text=True, check=False)
        if "not built in" in probe.stderr or "left out" in probe.stderr:
            print("skipped:", probe.stderr.strip())
            sys.exit(77)
        equals_the_oracle(names)
        is_the_same_however_it_is_run()
        answers_each_with_its_own(names)
        reads_any_name_and_tells_what_it_cannot_read(names)
        goes_on_where_it_was_stopped()
        refuses_what_it_cannot_do(names)
        runs_what_its_page_shows(names)
        os.chdir("/")


if __name__ == "__main__":
    main()
