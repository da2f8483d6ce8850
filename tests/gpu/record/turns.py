"""Processes that wait until it is their turn: one round of one of them at a time, whoever watches them."""
import os
import select
import signal
import subprocess
import time


class TurnFailed(Exception):
    pass


class Turner:
    """A worker process: COMMAND gets the names of two pipes in place of {in} and {out}."""

    def __init__(self, name, command, folder, env=None, log=None):
        self.name = name
        self.paths = [os.path.join(folder, f"{name}.{way}") for way in ("in", "out")]
        for path in self.paths:
            os.mkfifo(path)
        # Both ends are opened for reading and writing, so that opening never waits for the other side.
        self.fds = [os.open(path, os.O_RDWR | os.O_NONBLOCK) for path in self.paths]
        self.buffer, self.asked = b"", False
        command = [part.replace("{in}", self.paths[0]).replace("{out}", self.paths[1]) for part in command]
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                        start_new_session=True)

    def listen(self, seconds):
        """The next line the worker says."""
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0:
                raise TurnFailed(f"{self.name}: no answer in {seconds:.0f} s")
            if select.select([self.fds[1]], [], [], min(left, 0.5))[0]:
                self.buffer += os.read(self.fds[1], 65536)
            elif self.process.poll() is not None:
                raise TurnFailed(f"{self.name}: ended with status {self.process.returncode}")
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode(errors="replace")

    def wait_ready(self, seconds):
        line = self.listen(seconds)
        if line != "ready":
            raise TurnFailed(f"{self.name}: said '{line}', not ready")

    def tell(self, line, seconds=60.0):
        os.write(self.fds[0], line.encode() + b"\n")
        return self.listen(seconds)

    def go(self, loop="", seconds=60.0):
        """One round; its seconds."""
        words = self.tell(f"go {loop}".strip(), seconds).split()
        if len(words) != 2 or words[0] != "done":
            raise TurnFailed(f"{self.name}: said '{' '.join(words)}'")
        return float(words[1])

    def ask_to_quit(self):
        if not self.asked:
            self.asked = True
            os.write(self.fds[0], b"quit\n")

    def quit(self, seconds=60.0):
        """Lets it end by itself; its status, or None if it had to be killed."""
        try:
            self.ask_to_quit()
            status = self.process.wait(seconds)
        except (OSError, subprocess.TimeoutExpired):
            status = None
            self.kill()
        self.close()
        return status

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def close(self):
        for fd, path in zip(self.fds, self.paths):
            os.close(fd)
            os.unlink(path)
        self.fds, self.paths = [], []


def start_all(specs, folder, seconds, log, register):
    """Starts every (name, command, env) at once; those that got ready in time, and why the others did not."""
    turners = [Turner(name, command, str(folder), env, log) for name, command, env in specs]
    for turner in turners:
        register(turner.process.pid)
    end, ready, failed = time.monotonic() + seconds, {}, {}
    for turner in turners:
        try:
            turner.wait_ready(max(end - time.monotonic(), 0.1))
            ready[turner.name] = turner
        except TurnFailed as error:
            failed[turner.name] = str(error)
            turner.kill()
            turner.close()
    return ready, failed
