#!/usr/bin/env python3
"""A trace of any size: the events of a real one again and again, later each time, with ids of their own.
Usage: make_trace.py SOURCE.json.gz BYTES OUT.json"""
import gzip
import re
import sys

# Times with three decimals, and the ids that join calls, operations, flows and operators.
NUMBER = re.compile(r'("ts": |"correlation": |"id": |"External id": )(\d+)(?:\.(\d{3}))?')
ID_STEP = 1 << 24


def split(text):
    """Literal pieces, and between them the numbers: thousandths (True) or ids (False)."""
    pieces, numbers, at = [], [], 0
    for m in NUMBER.finditer(text):
        is_time = m[1] == '"ts": '
        pieces.append(text[at:m.start(2)])
        numbers.append((is_time, int(m[2] + (m[3] or "000")) if is_time else int(m[2])))
        at = m.end()
    return pieces, numbers, text[at:]


def shifted(pieces, numbers, tail, turn, span):
    out = []
    for piece, (is_time, n) in zip(pieces, numbers):
        out.append(piece)
        if is_time:
            n += turn * span
            out.append(f"{n // 1000}.{n % 1000:03d}")
        else:
            out.append(str(n + turn * ID_STEP))
    out.append(tail)
    return "".join(out)


def main():
    source, size, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    text = gzip.open(source, "rt").read()
    start = text.index('"traceEvents": [') + len('"traceEvents": [')
    end = text.rindex("]")
    head, body, tail = text[:start], text[start:end].rstrip(), text[end:]
    pieces, numbers, rest = split(body)
    times = [n for is_time, n in numbers if is_time]
    span = max(times) - min(times) + 10**6
    with open(path, "w") as out:
        out.write(head)
        turn = 0
        while True:
            part = shifted(pieces, numbers, rest, turn, span)
            left = size - out.tell() - len(tail)
            if turn and left <= len(part):
                # The last turn is cut behind an event.
                cut = part.rfind("\n  },", 0, max(left, 0))
                out.write("," + part[:cut] + "\n  }\n  " if cut > 0 else "")
                break
            out.write(("," if turn else "") + part)
            turn += 1
        out.write(tail)


main()
