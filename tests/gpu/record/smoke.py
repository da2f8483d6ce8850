"""Part 'smoke': the shortest look at whether recording works at all on this machine; prints everything."""
import fwr
from host import HERE, find_tool, NCU_PLACES, NSYS_PLACES


def describe(host, folder):
    recording = fwr.Recording(folder, host.libraries)
    kept = {"files": [(p.name, p.stat().st_size) for p in recording.files], "kernels": len(recording.kernels),
            "copies": len(recording.copies), "memsets": len(recording.memsets), "calls": len(recording.calls),
            "syncs": len(recording.syncs), "events": len(recording.events), "ranges": len(recording.ranges),
            "counters": len(recording.counters), "host": len(recording.host), "losses": recording.losses[:5],
            "damaged": recording.damaged, "infos": [i[1:] for i in recording.infos][:20]}
    samples = [(round((c[1] - c[0]) / 1e6, 3), c[2], round(c[3], 3), c[4]) for c in recording.counters[:6]]
    return {**kept, "samples": samples}


def run(host):
    result = {"ncu": find_tool("ncu", NCU_PLACES), "nsys": find_tool("nsys", NSYS_PLACES)}
    small = [host.python, str(HERE / "torch_steady.py"), "2", str(host.work / "smoke.progress"), host.device]
    for name, command, options in (("launches", [host.known_work, "launches", "20000"], []),
                                   ("streams", [host.known_work, "streams"], ["--no-counters"]),
                                   ("torch", small, [])):
        folder = host.target_for_recording(f"smoke/{name}")
        status, out, err = host.run(host.record(folder, command, *options), 40)
        print(f"--- {name}: status {status}\n{out[-1500:]}\n{err[-1500:]}", flush=True)
        try:
            result[name] = {"status": status, **describe(host, folder)}
        except (OSError, ValueError, fwr.ZstdMissing) as error:
            result[name] = {"status": status, "error": str(error)}
        print(result[name], flush=True)
        status, out, err = host.report(folder)
        print(f"report: status {status}\n{out[-2500:]}\n{err[-500:]}", flush=True)
    return result


def rows(_):
    return ()
