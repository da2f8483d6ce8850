"""Part 'breaks': the shim's patches leave torch.compile as many graph breaks as it has without them."""
from host import HERE

PROGRAM = HERE.parent / "python_graph_breaks.py"


def run(host):
    if not PROGRAM.exists():
        return {"problems": [f"{PROGRAM.name} is not there"]}
    status, plain, err = host.run([host.python, str(PROGRAM)], 90)
    folder = host.target_for_recording("breaks")
    recorded_status, recorded, recorded_err = host.run(
        host.record(folder, [host.python, str(PROGRAM)], "--python-calls", "--no-counters"), 90)
    problems = [f"{name}: status {got}: {text[-300:]}" for name, got, text in
                (("plain", status, err), ("recorded", recorded_status, recorded_err)) if got != 0]
    if plain != recorded:
        problems.append(f"plain said '{plain[-300:]}', recorded '{recorded[-300:]}'")
    host.say(f"breaks: {problems or plain.strip()[-300:]}")
    return {"problems": problems, "said": plain[-1000:]}


def rows(_):
    return ()
