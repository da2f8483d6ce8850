#!/usr/bin/env python3
"""screen.py FULLWARP FAKE_NVML: drives the live screen in tmux: sizes, keys, signals, states that change under it."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

GEMM = ("*.gpu_percent 97\n*.gpm2 66\n*.gpm3 9.8\n*.gpm5 64\n*.gpm10 12.7\n*.power_mw 690000\n*.clocks_reasons 4\n")


class Screen:
    """A tmux server of its own, with one window that holds a shell."""

    def __init__(self, folder, fullwarp, fake, columns=80, rows=24, env=()):
        self.socket = f"{folder}/tmux{len(env)}"
        self.states = pathlib.Path(folder) / "states"
        self.command = f"{fullwarp} top --interval 0.2 --nvml {fake}"
        clean = {**os.environ, "FW_FAKE_NVML": str(self.states), "LC_ALL": "C.UTF-8", "PS1": "$ "}
        clean.pop("TMUX", None)
        clean.pop("COLUMNS", None)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "env", "PS1=$ ",
                  *env, "sh", env=clean)
        self.wait("$")

    def tmux(self, *args, env=None):
        return subprocess.run(["tmux", "-S", self.socket, "-u", *args], check=True, capture_output=True, text=True,
                              env=env).stdout

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def text(self):
        return self.tmux("capture-pane", "-p")

    def set(self, states):
        new = self.states.with_suffix(".new")
        new.write_text(states)
        new.rename(self.states)

    def start(self, extra=""):
        self.keys("clear; " + self.command + extra + "; echo ended $?", "Enter")
        return self.wait("q quit")

    def wait(self, *parts, absent=()):
        until = time.monotonic() + 20
        while time.monotonic() < until:
            text = self.text()
            if all(p in text for p in parts) and not any(p in text for p in absent):
                return text
            time.sleep(0.1)
        raise AssertionError(f"waited for {parts}, without {absent}; the screen is:\n{text}")

    def pid(self):
        out = subprocess.run(["pgrep", "-f", "top --interval 0.2 --nvml"], capture_output=True, text=True, check=False)
        shell = self.tmux("list-panes", "-F", "#{pane_pid}").strip()
        for pid in out.stdout.split():
            status = pathlib.Path(f"/proc/{pid}/status")
            if status.exists() and f"PPid:\t{shell}\n" in status.read_text():
                return int(pid)
        raise AssertionError("the program is not found")

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False, capture_output=True)


def check_keys(s):
    s.set(GEMM + f"0.process {os.getpid()} 5000000000\n0.process 1 1000000000\n")
    s.start()
    text = s.wait("SM 66 %", "healthy: tensor 64 % busy", "python3", "sort (GPU memory)")
    lines = text.splitlines()
    assert len(lines) == 24 and "q quit" in lines[-1], lines
    assert lines.index(next(l for l in lines if "python3" in l)) < lines.index(next(l for l in lines if "       1   0" in l))
    s.keys("s", "s", "s", "s")
    s.wait("sort (PID)")
    s.keys("Down", "Down")
    s.wait(f"PID {os.getpid()}: children")
    s.keys("Up")
    s.wait("PID 1: children")
    s.keys("Escape")
    s.wait("SM 66 %", absent=("PID 1: children",))


def check_states(s):
    s.set("*.gpm 0\n*.gpu_percent 99\n")
    s.wait("SM ?", "how full is unknown", "0 processes", "DRAM, PCIe, NVLink ?: GPM")
    s.set("*.mig 1\n*.gpu_percent !3\n")
    s.wait("PCIe, NVLink ?: MIG is on: the GPU's counters belong to its instances")
    s.set("init !9\ncount !9\n")
    s.wait("No GPU to be seen: ", "not loaded")
    s.set("count 8\n" + GEMM + "3.* !15\n")
    s.wait("GPU 7 H200", "no answer: the GPU is lost", "SM 66 %")


def check_sizes(s):
    for columns, rows in ((200, 60), (40, 10), (10, 3), (80, 24)):
        s.tmux("resize-window", "-x", str(columns), "-y", str(rows))
        until = time.monotonic() + 10
        while time.monotonic() < until:
            lines = s.text().splitlines()
            if len(lines) == rows and lines[-1].startswith("q quit"):
                break
            time.sleep(0.1)
        else:
            raise AssertionError(f"{columns}x{rows}:\n" + s.text())


def check_end(s, leave, code):
    """However it ends, the shell's screen comes back, echoing and with its cursor."""
    leave(s)
    s.wait(f"ended {code}", absent=("q quit",))
    s.keys("echo typed$((1+1))", "Enter")
    s.wait("echo typed$((1+1))", "typed2")
    assert s.tmux("display-message", "-p", "#{cursor_flag}#{alternate_on}").strip() == "10"


def check_ascii(folder, fullwarp, fake):
    s = Screen(folder, fullwarp, fake, env=("LC_ALL=C", "TERM=vt100"))
    try:
        s.set(GEMM)
        s.start()
        text = s.wait("SM 66 %")
        assert text.isascii(), text
        check_end(s, lambda t: t.keys("q"), 0)
        s.keys(f"clear; TERM=nosuch {fullwarp} top --nvml {fake}; echo ended $?", "Enter")
        s.wait("is not known here; --once needs none", "ended 1")
    finally:
        s.close()


def main():
    fullwarp, fake = sys.argv[1:3]
    for tool in ("tmux", "pgrep"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        s = Screen(folder, fullwarp, fake)
        try:
            check_keys(s)
            check_states(s)
            check_sizes(s)
            check_end(s, lambda t: t.keys("q"), 0)
            for number, code in ((15, 1), (1, 1), (3, 1), (2, 0)):
                s.start()
                check_end(s, lambda t: os.kill(t.pid(), number), code)
            s.start()
            check_end(s, lambda t: t.keys("C-c"), 0)
        finally:
            s.close()
        check_ascii(folder, fullwarp, fake)
    print("ok: keys, states, sizes, signals, ASCII")


if __name__ == "__main__":
    main()
