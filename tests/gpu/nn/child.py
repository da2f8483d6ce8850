"""gpu_nn as a child: one line in, one JSON line out."""
import json
import subprocess


class Engine:
    def __init__(self, program, model, *options, log=None):
        self.child = subprocess.Popen([program, model, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=log, text=True)
        self.ready = self.answer()

    def answer(self):
        line = self.child.stdout.readline()
        if not line:
            raise RuntimeError(f"gpu_nn ended with {self.child.wait()}")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply

    def ask(self, text):
        self.child.stdin.write(text + "\n")
        self.child.stdin.flush()
        return self.answer()

    def close(self):
        self.child.stdin.close()
        return self.child.wait(timeout=60)
