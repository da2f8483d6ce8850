#!/usr/bin/env python3
"""prometheus.py FULLWARP FAKE_NVML: a real Prometheus scrapes the exporter and answers queries on what it got."""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

STATES = """count 2
*.gpu_percent 97
0.gpm2 66
0.gpm3 9.8
0.gpm5 64
0.gpm10 12.7
1.gpm 0
*.name NVIDIA "H200"\\x
*.clocks_reasons 4
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_exporter(fullwarp, fake, folder):
    states = folder / "states"
    states.write_text(STATES)
    exporter = subprocess.Popen([fullwarp, "top", "--prometheus", ":0", "--interval", "0.5", "--nvml", fake],
                                stderr=subprocess.PIPE, text=True, env={**os.environ, "FW_FAKE_NVML": str(states)})
    line = exporter.stderr.readline()
    return exporter, int(re.search(r"port (\d+)$", line)[1])


def start_prometheus(folder, target):
    config = folder / "prometheus.yml"
    config.write_text("global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n"
                      f"- job_name: fullwarp\n  static_configs: [{{targets: ['127.0.0.1:{target}']}}]\n")
    port = free_port()
    server = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                               f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"])
    return server, f"http://127.0.0.1:{port}/api/v1/"


def get(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.load(answer)["data"]


def query(api, expression):
    return get(api + "query?query=" + urllib.parse.quote(expression))["result"]


def wait_for(api, expression):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            result = query(api, expression)
            if result:
                return result
        except OSError:
            pass
        time.sleep(0.5)
    sys.exit(f"no answer to {expression}")


def check(api):
    busy = wait_for(api, "fullwarp_gpu_sm_busy_ratio")
    assert len(busy) == 1, "GPU 1 has no counters: it must be absent"
    assert float(busy[0]["value"][1]) == 0.66, busy
    labels = busy[0]["metric"]
    for name, value in {"gpu": "0", "device": "nvidia0", "modelName": 'NVIDIA "H200"\\x',
                        "pci_bus_id": "00000000:17:00.0", "job": "fullwarp"}.items():
        assert labels[name] == value, (name, labels)
    assert {"UUID", "Hostname"} <= labels.keys()
    assert [r["value"][1] for r in query(api, 'up{job="fullwarp"}')] == ["1"]
    assert len(query(api, 'fullwarp_gpu_throttled{reason="power_cap"} == 1')) == 2
    source = query(api, 'fullwarp_gpu_value_source{value="fullwarp_gpu_sm_busy_ratio"}')
    assert sorted((r["metric"]["gpu"], r["metric"]["source"]) for r in source) == [("0", "measured"), ("1", "unknown")]
    kind = get(api + "metadata?metric=fullwarp_gpu_sm_busy_ratio")["fullwarp_gpu_sm_busy_ratio"][0]
    assert (kind["type"], kind["unit"]) == ("gauge", "ratio"), kind
    assert wait_for(api, "fullwarp_readings_total > 2")


def main():
    if not shutil.which("prometheus"):
        print("skipped: prometheus is not installed (apt-get install --no-install-recommends prometheus: 20 MB to fetch, 96 MB installed)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        exporter, port = start_exporter(sys.argv[1], sys.argv[2], folder)
        server, api = start_prometheus(folder, port)
        try:
            check(api)
        finally:
            server.terminate()
            server.wait()
            exporter.terminate()
            status = exporter.wait()
    assert status == 0, f"the exporter ended with {status}"
    print("ok: scraped by", subprocess.run(["prometheus", "--version"], capture_output=True, text=True,
                                           check=True).stdout.splitlines()[0])


if __name__ == "__main__":
    main()
