"""Part 'selfprofile': a C program that profiles itself through CUPTI (tests/record/self_profile.c) gets the same trace
whether it is recorded or not, and the recording has what was outside its sessions. Runs several at once: nothing is timed."""
import concurrent.futures
import os

import fwr
from host import row

COUNT = 200
# (program, scenario): how often the program launches COUNT kernels outside its sessions, which is what is recorded.
CASES = {("self_profile", "after"): 2, ("self_profile", "before"): 0, ("self_profile", "twice"): 3,
         ("self_profile", "callbacks"): 2, ("self_profile", "callbacks-before"): 2, ("self_profile", "finalize"): 3,
         ("self_profile", "settings"): 3, ("self_profile_dlopen", "after"): 2, ("self_profile_dlopen", "twice"): 3,
         ("self_profile_dlopen", "callbacks"): 2}
AT_ONCE = 5


def one(host, program, scenario, kernels):
    command = [str(host.bundle / program), scenario, str(COUNT)]
    folder = host.target_for_recording(f"selfprofile/{program}-{scenario}")
    alone = host.run(command, 40)
    recorded = host.run(host.record(folder, command, "--no-counters", "--no-host"), 40)
    found = {"alone": alone[:2], "recorded": recorded[:2], "problems": []}
    if alone[:2] != recorded[:2]:
        found["problems"].append("another trace")
    if alone[0] != 0:
        found["problems"].append(f"status {alone[0]}: {alone[2][-300:]}")
    try:
        recording = fwr.Recording(folder, host.libraries)
    except (OSError, ValueError, fwr.ZstdMissing) as error:
        found["problems"].append(str(error))
        return found
    found["kernels"] = len(recording.kernels)
    found["losses"] = [loss[:4] for loss in recording.losses]
    found["cannot"] = [i[2] for i in recording.infos if i[1] == "cannot"]
    if found["kernels"] != kernels * COUNT:
        found["problems"].append(f"{found['kernels']} kernels recorded, not {kernels * COUNT}")
    return found


def run(host):
    cases = {case: kernels for case, kernels in CASES.items() if os.path.exists(host.bundle / case[0])}
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = {case: pool.submit(one, host, *case, kernels) for case, kernels in cases.items()}
        result = {"cases": {" ".join(case): job.result() for case, job in jobs.items()}}
    for name, found in result["cases"].items():
        same = "same trace" if found["alone"] == found["recorded"] else "OTHER TRACE"
        host.say(f"{name:30} {same}, {found.get('kernels')} kernels recorded, {len(found.get('losses', []))} blind spots "
                 f"{found['problems'] or ''} {found.get('cannot') or ''}")
        if found["problems"]:
            print(f"--- alone\n{found['alone'][1]}--- recorded\n{found['recorded'][1]}{found.get('losses')}", flush=True)
    # What CUPTI says to a flush before callbacks were registered: with success, 'before' could not be told.
    print("settings, alone:\n" + result["cases"].get("self_profile settings", {"alone": (0, "")})["alone"][1], flush=True)
    return result


def differences(result):
    return sum(found["alone"] != found["recorded"] or found["alone"][0] != 0 for found in result["cases"].values())


def rows(result):
    yield row("programs that profile themselves: ways in which their trace differs when recorded", "count",
              [differences(result)])
    yield row("programs that profile themselves: ways compared", "count", [len(result["cases"])])
