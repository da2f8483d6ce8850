"""Parts 'examples' and 'growth': the programs of examples/pytorch recorded as a user would record them; their reports and
small recordings come back."""
import concurrent.futures
import os
import pathlib
import time

from host import HERE, row

FOLDER = HERE.parent.parent.parent / "examples/pytorch"
SECONDS, GROWTH_S = 110, 90
SMALL_BYTES = 2_500_000
CPU = ["--device", "cpu", "--small-net", "--batches", "4"]  # a dry run without a GPU


def programs(growth):
    names = sorted(p for p in FOLDER.glob("*.py") if p.stem != "common")
    return [p for p in names if p.stem.startswith("grow_") == growth]


def one(host, path, gpu, cores, seconds, arguments):
    name = path.stem + "".join(a.replace("--", "-") for a in arguments if a.startswith("--corr"))
    arguments = arguments + (CPU if host.device != "cuda" else [])
    folder = pathlib.Path(host.target_for_recording(f"examples/{name}"))
    env = {**host.env, "CUDA_VISIBLE_DEVICES": str(gpu)}
    began = time.monotonic()
    command = host.pinned(host.record(folder, [host.python, str(path), *arguments]), cores)
    status, out, err = host.run(command, seconds, env=env)
    took = time.monotonic() - began
    kept = {"status": status, "seconds": took, "said": out[-400:], "err": "" if status == 0 else err[-600:]}
    status, text, err = host.report(folder)
    kept["report_status"] = status
    host.keep_files(f"{name}.txt", text or err)
    kept["bytes"] = sum(p.stat().st_size for p in folder.glob("*")) if folder.is_dir() else 0
    if kept["status"] == 0 and kept["bytes"] <= SMALL_BYTES:
        host.keep_folder(folder, name)
    first = next((line for line in text.splitlines() if line.strip()), "")
    host.say(f"{name}: status {kept['status']}, {took:.1f} s, {kept['bytes'] / 1e6:.2f} MB: {first[:150]}")
    return kept


def lanes(host):
    """(GPU, its cores): as many programs at a time as there are GPUs."""
    share = max(len(host.all_cores) // len(host.all_gpus), 1)
    return [(gpu, host.all_cores[i * share:(i + 1) * share]) for i, gpu in enumerate(host.all_gpus)]


def run(host):
    waiting, result = programs(False), {}
    only = os.environ.get("FW_EXAMPLES")
    if only:
        waiting = [p for p in waiting if p.stem in only.split(",")]

    def work(lane):
        while waiting:
            path = waiting.pop(0)
            result[path.stem] = one(host, path, *lane, SECONDS, [])

    with concurrent.futures.ThreadPoolExecutor(len(host.all_gpus)) as pool:
        list(pool.map(work, lanes(host)))
    return {"programs": result}


def run_growth(host):
    """As written and corrected, all at once: they fill memory, not the GPU."""
    jobs = [(path, extra) for path in programs(True) for extra in ([], ["--corrected"])]
    share = max(len(host.cores) // max(len(jobs), 1), 1)
    with concurrent.futures.ThreadPoolExecutor(max(len(jobs), 1)) as pool:
        futures = {f"{path.stem}{' corrected' if extra else ''}":
                   pool.submit(one, host, path, host.gpu, host.cores[i * share:(i + 1) * share], GROWTH_S + 60,
                               ["--seconds", str(GROWTH_S), *extra]) for i, (path, extra) in enumerate(jobs)}
        return {"programs": {name: future.result() for name, future in futures.items()}}


def rows(result):
    kept = result["programs"]
    if kept:
        yield row("examples recorded: exit status 0 and a report", "count",
                  [sum(1 for k in kept.values() if k["status"] == 0 and k["report_status"] == 0)])
