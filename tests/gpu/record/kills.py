"""Part 'kills': programs, recorders and both are killed at random moments; the program never notices what happens to the
recorder, and every recording can be read."""
import concurrent.futures
import os
import pathlib
import random
import signal
import subprocess
import time

import fwr
from host import HERE, row

RUNS, PYTHON_RUNS, LANES = 46, 4, 8
SECONDS, RATE = 2.0, 20000
LOST_MS = 500  # records younger than this at the kill may be missing: a flush every 100 ms, and a busy machine


def read_progress(path):
    """The process's number and its progress as (nanoseconds, launches)."""
    pid, steps = None, []
    try:
        lines = pathlib.Path(path).read_text(encoding="ascii").splitlines()
    except OSError:
        return None, []
    for line in lines:
        words = line.split()
        if len(words) != 2:
            continue
        if words[0] == "pid":
            pid = int(words[1])
        else:
            steps.append((int(words[0]), int(words[1])))
    return pid, steps


def wait_for_start(path, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, steps = read_progress(path)
        if pid and steps:
            return pid
        time.sleep(0.02)
    return None


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, TypeError):
        pass


def wait_for_file(path, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if path.exists() and path.read_text().strip():
            return path.read_text().strip()
        time.sleep(0.05)
    return None


def judge(host, folder, files, who, killed_at):
    """What is wrong after a kill, as texts; and the milliseconds that were lost."""
    found = []
    if who == "recorder":
        status, printed = wait_for_file(files["status"], SECONDS + 10), files["out"].read_text().strip()
        words = printed.split()
        if status != "0" or len(words) != 4 or words[1] != words[3]:
            found.append(f"the program ended with {status} and said '{printed}'")
    status, _, err = host.report(folder)
    is_clear = status == 1 and err.strip() != ""
    if status != 0 and not is_clear:
        found.append(f"report ended with {status}: {err.strip()[-200:]}")
    recording = fwr.Recording(folder, host.libraries)
    _, steps = read_progress(files["progress"])
    until = killed_at - LOST_MS * 1_000_000
    due = max((count for at, count in steps if at <= until), default=0)
    got = len(recording.kernels)
    dropped = sum(loss[3] for loss in recording.losses if loss[2].startswith("dropped"))
    if who != "recorder" and got + dropped < due:
        found.append(f"{got} kernels recorded, {due} were done {LOST_MS} ms before the kill")
    reached = next((at for at, count in steps if count >= got), killed_at)
    return found, max(0.0, (killed_at - reached) / 1e6) if who != "recorder" else None


def one_run(host, number, program, who, seed):
    """Starts a program under the recorder, kills `who` at a random moment, and judges."""
    rng = random.Random(seed)
    base = host.folder(f"kills/{number}")
    folder = base / "recording"
    files = {name: base / name for name in ("progress", "out", "status")}
    files["out"].touch()
    # The shell outlives a killed recorder and keeps what the program said; it is not what is killed.
    line = f'"$@" >{files["out"]}; echo $? >{files["status"]}'
    command = host.record(folder, ["sh", "-c", line, "sh", *program(files["progress"])], "--no-counters")
    with open(base / "log", "w", encoding="utf-8") as log:
        recorder = subprocess.Popen(command, env=host.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    start_new_session=True)
        host.register(recorder.pid)
        pid = wait_for_start(files["progress"], 60)
        if pid is None:
            os.killpg(recorder.pid, signal.SIGKILL)
            recorder.wait()
            return [f"run {number}: the program did not start: {(base / 'log').read_text()[-300:]}"], None
        time.sleep(rng.uniform(0.0, SECONDS * 0.75))
        killed_at = time.monotonic_ns()
        for victim in {"program": [pid], "recorder": [recorder.pid], "both": [pid, recorder.pid]}[who]:
            kill(victim)
        try:
            recorder.wait(40)
        except subprocess.TimeoutExpired:
            os.killpg(recorder.pid, signal.SIGKILL)
            recorder.wait()
            return [f"run {number}: the recorder did not end after the {who} was killed"], None
    try:
        found, lost = judge(host, folder, files, who, killed_at)
    except (OSError, ValueError, fwr.ZstdMissing) as error:
        found, lost = [f"{type(error).__name__}: {error}"], None
    return [f"run {number}, {who} killed: {text}" for text in found], lost


def run(host):
    def native(progress):
        return [host.known_work, "steady", str(SECONDS), str(RATE), str(progress)]

    def python(progress):
        return [host.python, str(HERE / "torch_steady.py"), str(SECONDS), str(progress), host.device]

    who = ("program", "recorder", "both")
    jobs = [(i, native, who[i % 3], i) for i in range(RUNS)]
    jobs += [(RUNS + i, python, who[i % 3], RUNS + i) for i in range(PYTHON_RUNS)]
    result = {"runs": len(jobs), "survived": 0, "problems": [], "lost_ms": [], "killed": {}}
    # Those that import PyTorch first: they take longest.
    with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
        futures = {pool.submit(one_run, host, *job): job for job in reversed(jobs)}
        for future in concurrent.futures.as_completed(futures):
            problems, lost = future.result()
            name = futures[future][2]
            result["killed"][name] = result["killed"].get(name, 0) + 1
            result["survived"] += not problems
            result["problems"] += problems
            if lost is not None:
                result["lost_ms"].append(round(lost, 3))
            for text in problems:
                host.say(text)
    host.say(f"kills: {result['survived']} of {result['runs']} as they should be, lost {sorted(result['lost_ms'])[-5:]} ms")
    return result


def rows(result):
    yield row("kills: runs in which all was as it should be", "count", [result["survived"]])
    if result["lost_ms"]:
        yield row("kills: recorded work lost before the kill", "ms", sorted(result["lost_ms"]))
