"""Starts fullwarp-serve serve, or the same on a fake pipeline, and speaks HTTP to it."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time


class Service:
    """with Service(program, model, options...) as service: ... It must end with `code` (0) and the sanitizers quiet."""

    def __init__(self, command, *options, code=0, ready=True):
        self.code = code
        self.process = subprocess.Popen([*command, "--listen", "127.0.0.1:0", *options],
                                        stderr=subprocess.PIPE, text=True)
        self.first = []
        self.port = None
        for line in self.process.stderr:
            self.first.append(line)
            found = re.search(r"listening on port (\d+)", line)
            if found:
                self.port = int(found[1])
                break
        if self.port is None:
            raise AssertionError("it does not listen: " + "".join(self.first))
        if ready:
            self.await_ready()

    def await_ready(self):
        for _ in range(1000):
            status, _, body = self.ask("GET", "/v2/health/ready")
            if status == 200:
                return
            assert status == 503, body
            time.sleep(0.01)
        raise AssertionError("it is never ready")

    def connect(self, timeout=20):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def raw(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def ask(self, method, path, body=None, headers=None, connection=None):
        """(status, headers, body)"""
        own = connection or self.connect()
        try:
            own.request(method, path, body=body, headers=headers or {})
            answer = own.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            if not connection:
                own.close()

    def json(self, method, path, body=None, headers=None, connection=None):
        status, _, text = self.ask(method, path, body, headers, connection)
        return status, json.loads(text)

    def end(self, number=signal.SIGTERM):
        """Sends the signal, waits; what it said on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        said = "".join(self.first) + self.process.stderr.read()
        self.process.stderr.close()
        assert self.process.returncode == self.code, (self.process.returncode, said)
        assert "Sanitizer" not in said and "runtime error" not in said, said
        return said

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind:
            self.process.kill()
            print("".join(self.first) + self.process.stderr.read())
        elif not self.process.stderr.closed:
            self.end()

    def resident(self):
        """Bytes."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
