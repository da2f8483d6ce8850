"""ort_rounds.py MODEL BATCH THREADS: what engine_rounds does, with ONNX Runtime: THREADS sessions of one thread each."""
import sys
import threading
import time

import numpy as np
import onnxruntime


def main():
    path, batch, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    sessions = [onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
                for _ in range(threads)]
    name = sessions[0].get_inputs()[0].name
    samples = np.random.default_rng(1).standard_normal((batch, 3, 224, 224)).astype("f4")

    def lane(session, launches):
        for _ in range(launches):
            session.run(None, {name: samples})

    for line in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        others = [threading.Thread(target=lane, args=(s, int(line))) for s in sessions[1:]]
        for thread in others:
            thread.start()
        lane(sessions[0], int(line))
        for thread in others:
            thread.join()
        print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)


main()
