"""Part 'ddp': two ranks of torchrun on two GPUs in one recording: both on one axis of time, collectives told apart, the
rank that was slowed on purpose named."""
import json
import statistics

import fwr
from host import HERE, row

STEPS, SLOW_MS = 60, 12
RANKS = 2


def collectives(recording):
    """The NCCL kernels of each process, in order of time."""
    found = {}
    for kernel in recording.kernels:
        if "nccl" in kernel[2].lower():
            found.setdefault(kernel[3], []).append((kernel[0], kernel[1]))
    return found


def ends_apart_ms(found):
    """For each collective: how far apart its kernels end on the ranks. Nothing but one axis of time makes that small."""
    a, b = (found[pid] for pid in sorted(found))
    return [abs(x[1] - y[1]) / 1e6 for x, y in zip(a, b)]


def check(host, folder, slow_rank, result):
    recording = fwr.Recording(folder, host.libraries)
    pids = sorted({k[3] for k in recording.kernels})
    uuids = {d["uuid"] for d in recording.devices.values()}
    ranks = sorted({value for _, key, _, value in recording.infos if key == "rank"})
    found = collectives(recording)
    result["processes"], result["devices"], result["ranks"] = len(pids), len(uuids), ranks
    result["collectives"] = sorted(len(c) for c in found.values())
    if len(found) == RANKS:
        apart = ends_apart_ms(found)
        result["ends_apart_ms"] = [statistics.median(apart), max(apart)]
    problems = [text for text, bad in (
        (f"{len(pids)} processes with kernels", len(pids) != RANKS), (f"{len(uuids)} devices", len(uuids) < RANKS),
        (f"ranks {ranks}", not set(range(RANKS)) <= set(ranks)),
        (f"collectives {result['collectives']}", len(set(result["collectives"])) != 1 or len(found) != RANKS),
        (f"collectives end {result.get('ends_apart_ms')} ms apart", result.get("ends_apart_ms", [99])[0] > 0.2)) if bad]
    status, text, _ = host.report(folder)
    result["report_text"] = text
    status, text, _ = host.report(folder, "--format", "json")
    report = json.loads(text) if status == 0 else {}
    findings = report.get("findings", [])
    named = sorted({report["devices"][f["device"]]["rank"] for f in findings if f["id"] == "straggler"}, key=str)
    result["findings"], result["named"] = sorted({f["id"] for f in findings}), named
    wanted = [slow_rank] if slow_rank >= 0 else []
    if named != wanted:
        problems.append(f"ranks {named} are called slow, {wanted} wanted; findings {result['findings']}")
    return problems


def one(host, name, slow_rank):
    folder, result = host.target_for_recording(f"ddp-{name}"), {}
    env = {**host.env, "CUDA_VISIBLE_DEVICES": "0,1", "OMP_NUM_THREADS": "4"}
    launch = [host.python, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(RANKS),
              str(HERE / "ddp_train.py"), str(STEPS), str(slow_rank), str(SLOW_MS)]
    status, out, err = host.run(host.record(folder, launch), 60, env=env)
    result["said"], result["problems"] = out[-300:], [] if status == 0 else [f"status {status}: {err[-500:]}"]
    try:
        result["problems"] += check(host, folder, slow_rank, result)
    except (OSError, ValueError, KeyError, fwr.ZstdMissing) as error:
        result["problems"].append(f"{type(error).__name__}: {error}")
    host.keep_files(f"ddp-{name}.txt", result.pop("report_text", ""))
    host.say(f"ddp {name}: {result}")
    return result


def run(host):
    if len(host.all_gpus) < RANKS:
        return {"problems": [f"{len(host.all_gpus)} GPU here, {RANKS} wanted"]}
    return {"slowed": one(host, "slowed", 1), "balanced": one(host, "balanced", -1)}


def rows(result):
    for name in ("slowed", "balanced"):
        kept = result.get(name, {})
        yield row(f"two ranks, {name}: problems", "count", [len(kept.get("problems", ["not run"]))])
        if kept.get("ends_apart_ms"):
            yield row(f"two ranks, {name}: ends of the same collective apart, median", "ms", [kept["ends_apart_ms"][0]])
