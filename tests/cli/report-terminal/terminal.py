"""terminal.py WHICH COMMAND...: runs a command with stdout or stderr on a terminal of 90 columns; prints that output with
escapes made visible."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

which, command = sys.argv[1], sys.argv[2:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
environment = {**os.environ, "TERM": "xterm"}
environment.pop("COLUMNS", None)
streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, which: theirs}
child = subprocess.Popen(command, env=environment, **streams)
os.close(theirs)
output = b""
while True:
    try:
        part = os.read(ours, 65536)
    except OSError:  # Linux: the other side is closed
        break
    if not part:
        break
    output += part
child.wait()
print(output.decode().replace("\r\n", "\n").replace("\r", "<CR>").replace("\033", "<ESC>"), end="")
