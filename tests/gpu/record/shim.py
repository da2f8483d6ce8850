"""Part 'breaks': the Python shim leaves torch.compile as many graph breaks as it has without it."""
from host import HERE, row

PROGRAM = HERE.parent / "python_graph_breaks.py"


def run(host):
    if not PROGRAM.exists():
        return {"error": f"{PROGRAM.name} is not there"}
    status, out, err = host.run([host.python, "-B", str(PROGRAM), host.python], 180)
    host.say(f"breaks: status {status}: {out.strip()[-1500:]}")
    return {"status": status, "said": out[-3000:], "err": err[-500:]}


def rows(result):
    yield row("graph breaks of torch.compile with the shim: status of the comparison", "status",
              [-1 if result["status"] is None else result["status"]])
