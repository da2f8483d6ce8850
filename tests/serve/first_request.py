#!/usr/bin/env python3
"""first_request.py FULLWARP_SERVE MODEL.onnx IMAGE [ROUNDS] [OPTION...]: is the first request as fast as later ones? By hand, on a
quiet machine and a build without sanitizers: starts the service ROUNDS (10) times; each time one connection asks at once when it is
ready, and 20 times more. Prints the first, the second, and the others; exits 1 where the first is not within 20 % of the
others. The connection is made before, so that it is the service that is timed."""
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
    # Of each place in the order its best: what else the machine does comes and goes, being cold does not.
    best = [min(run[i] for run in runs) for i in range(len(runs[0]))]
    usual = statistics.median(best[2:])
    print(f"ms, the best of {rounds} rounds: first {best[0]:.2f}, second {best[1]:.2f}, others {usual:.2f} "
          f"(from {min(best[2:]):.2f} to {max(best[2:]):.2f}); first / others {best[0] / usual:.3f}")
    sys.exit(not 0.8 <= best[0] / usual <= 1.2)


if __name__ == "__main__":
    main()
