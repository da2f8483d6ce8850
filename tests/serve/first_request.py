#!/usr/bin/env python3
"""first_request.py FULLWARP_SERVE MODEL.onnx IMAGE [ROUNDS] [OPTION...]: is the first request as fast as later ones? By hand, on a
quiet machine and a build without sanitizers: starts the service ROUNDS (10) times; each time one connection asks at once when it is
ready, and 20 times more. Prints the medians of the first, the second, and the others; exits 1 where the first is not within 20 %
of the others. The connection is made before, so that it is the service that is timed."""
import pathlib
import statistics
import sys
import time

from service import Service


def measure(program, model, image, options):
    with Service([program, "serve", model, "--name", "m", *options]) as s:
        connection = s.connect()
        connection.connect()
        times = []
        for _ in range(21):
            start = time.perf_counter()
            status, _, body = s.ask("POST", "/v2/models/m/classify", image, connection=connection)
            times.append((time.perf_counter() - start) * 1e3)
            assert status == 200, body
        connection.close()
        return times


def main():
    program, model, image = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 10
    runs = [measure(program, model, pathlib.Path(image).read_bytes(), sys.argv[5:]) for _ in range(rounds)]
    first, second = (statistics.median(run[i] for run in runs) for i in (0, 1))
    others = [t for run in runs for t in run[2:]]
    usual = statistics.median(others)
    print(f"ms: first {first:.2f}, second {second:.2f}, others {usual:.2f} (from {min(others):.2f} to {max(others):.2f}); "
          f"first / others {first / usual:.3f}; {rounds} rounds")
    sys.exit(not 0.8 <= first / usual <= 1.2)


if __name__ == "__main__":
    main()
