#!/usr/bin/env python3
"""python_graph_breaks.py [PYTHON]: watched by the Python shim, with and without --python-calls, torch.compile breaks its
graphs where it does without it, and gives the same results. Needs PyTorch 2; uses a GPU where there is one."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SHIM = pathlib.Path(__file__).resolve().parent.parent.parent / "python"

PROGRAM = """
import json, torch, torch._dynamo
from torch._dynamo.utils import counters
device = 'cuda' if torch.cuda.is_available() else 'cpu'
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)).to(device)
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
sgd = torch.optim.SGD(model.parameters(), 1e-2)
data = torch.utils.data.DataLoader(torch.ones(8, 8), batch_size=4)

def forward(x): return model(x).sum()
def with_item(x): return model(x) * x.sum().item()
def with_bool(x): return model(x) + 1 if x.sum() > 0 else model(x)
def with_numbers(x): return x * float(x.sum()) + int(x.mean())
def with_copies(x): return (x.cpu() + 1).to(device) * 2
def with_numpy(x): return torch.as_tensor(x.detach().cpu().numpy() + 1) * 2
def with_list(x): return x + sum(x[0].tolist())
def with_synchronize(x):
    y = x + 1
    if device == 'cuda': torch.cuda.synchronize()
    return y * 2
def train(x):
    loss = model(x).sum()
    loss.backward()
    return loss.detach()
def step(x):
    optimizer.step()
    return x
def step_sgd(x):
    sgd.step()
    return x
def epoch(x):
    total = x.sum() * 0
    for batch in data: total = total + model(batch.to(device)).sum()
    return total

result = {}
for function in (forward, with_item, with_bool, with_numbers, with_copies, with_numpy, with_list, with_synchronize, train,
                 step, step_sgd, epoch):
    torch._dynamo.reset()
    counters.clear()
    compiled = torch.compile(function, backend='eager')
    try:
        values = [compiled(torch.full((4, 8), 0.5, device=device)).double().sum().item() for _ in range(3)]
    except Exception as error:
        values = [type(error).__name__]
    result[function.__name__] = {'values': values, 'breaks': sum(counters['graph_break'].values()),
                                 'kinds': len(counters['graph_break']), 'graphs': counters['stats'].get('unique_graphs', 0),
                                 'calls': counters['stats'].get('calls_captured', 0)}
print(json.dumps({'torch': torch.__version__, 'device': device, 'result': result}))
"""


def run(python, options):
    """What the program counted; options None: without the shim."""
    folder = tempfile.mkdtemp()
    try:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "FULLWARP"))}
        if options is not None:
            env.update(PYTHONPATH=str(SHIM), FULLWARP_RECORD_DIR=folder, FULLWARP_RECORD_OPTIONS=options)
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        done = subprocess.run([python, "-c", PROGRAM], env=env, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode:
            sys.exit(f"options {options}: status {done.returncode}\n{done.stderr}")
        return json.loads(done.stdout.splitlines()[-1]), len(list(pathlib.Path(folder).glob("python-*.fwr")))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    python = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("FW_TORCH_PYTHON", sys.executable)
    said = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True,
                          check=False)
    if said.returncode or int(said.stdout.split(".")[0]) < 2:
        print(f"skipped: {python} has no PyTorch 2")
        return 77
    plain, _ = run(python, None)
    print(f"PyTorch {plain['torch']} on {plain['device']}: graph breaks without the shim:",
          {k: v["breaks"] for k, v in plain["result"].items()})
    status = 0
    for options in ("", "python_calls=1"):
        watched, files = run(python, options)
        if not files:
            print(f"options '{options}': the shim wrote nothing")
            status = 1
        for name, value in plain["result"].items():
            if watched["result"][name] != value:
                print(f"options '{options}': {name}: {watched['result'][name]}, not {value}")
                status = 1
    print("ok: equal with the shim" if not status else "FAILED")
    return status


if __name__ == "__main__":
    sys.exit(main())
