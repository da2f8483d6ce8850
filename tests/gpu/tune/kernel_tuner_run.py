#!/usr/bin/env python3
"""kernel_tuner_run.py SPEC.cu BUDGET SEED OUT.json: Kernel Tuner on the same source and space, its own defaults: CuPy
back-end, 7 iterations, no check of outputs; random sampling. --count: prints the size of the space and ends."""
import contextlib
import json
import sys
import time

import read_spec


def main():
    spec = read_spec.Spec(sys.argv[1])
    if sys.argv[2] == "--count":
        print(spec.count())
        return 0
    budget, seed, out = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    import kernel_tuner
    import numpy
    start = time.perf_counter()
    # What our macro of that name stands for.
    threads = "*".join(f"({e})" for e in spec.block)
    source = (f"#if defined(launch_bounds) && launch_bounds\n#define FULLWARP_BOUNDS __launch_bounds__({threads}, "
              "launch_bounds)\n#else\n#define FULLWARP_BOUNDS\n#endif\n" if "launch_bounds" in spec.params else "")
    source += "".join(f"#define {name} {value}\n" for name, value in spec.sets.items()) + spec.source
    extents = [lambda p, e=e: spec.value(e, dict(p)) for e in spec.grid]
    with contextlib.redirect_stdout(sys.stderr):
        results, env = kernel_tuner.tune_kernel(
            spec.kernel, source, lambda p: tuple(e(p) for e in extents), spec.arrays(numpy, seed), spec.params,
            grid_div_x=[], grid_div_y=[], grid_div_z=[], block_size_names=spec.block,
            restrictions=spec.restrictions(), lang="cupy", compiler_options=["--std=c++17"],
            smem_args={"size": lambda p: spec.value(spec.smem, dict(p))} if spec.smem else None,
            strategy="random_sample", strategy_options={"max_fevals": budget}, iterations=7, quiet=True, seed=seed)
    wall = time.perf_counter() - start
    times = [r for r in results if isinstance(r["time"], (int, float))]
    best = min(times, key=lambda r: r["time"])
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"spec": sys.argv[1], "peer": f"Kernel Tuner {kernel_tuner.__version__}", "budget": budget,
                   "evaluated": len(results), "failed": len(results) - len(times), "wall_s": wall,
                   "rate": len(results) / wall, "best_s": best["time"] * 1e-3,
                   "config": {name: best[name] for name in spec.params}}, file)
    print(f"{sys.argv[1]}: {len(results)} configurations in {wall:.1f} s, best {best['time'] * 1e3:.1f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
