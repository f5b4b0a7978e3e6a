#!/usr/bin/env python3
"""Writes a network of torch_networks.py as ONNX, or times onnxruntime with an ONNX file; inference.py starts it.

    onnx_inference.py --network resnet50 --shape 3,224,224 --write resnet50.onnx      needs torch, torchvision, onnx
    onnx_inference.py --file resnet50.onnx --batch 1 32 --seconds 3                   needs onnxruntime, numpy
"""
import argparse
import json
import statistics
import time


def write(options):
    import torch
    import torch_networks
    torch.manual_seed(1)
    shape = [int(extent) for extent in options.shape.split(",")]
    model = torch_networks.network(options.network, options.classes).eval()
    torch.onnx.export(model, torch.rand(2, *shape), options.write, dynamo=False, input_names=["x"],
                      output_names=["y"], dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})


def time_batch(session, batch, seconds):
    """{images_per_second, ...} of calls with `batch` samples in memory."""
    import numpy
    value = session.get_inputs()[0]
    x = numpy.random.default_rng(1).random((batch, *value.shape[1:]), dtype=numpy.float32)
    session.run(None, {value.name: x})
    latencies, cpu, start = [], time.process_time(), time.perf_counter()
    while not latencies or time.perf_counter() - start < seconds:
        before = time.perf_counter()
        session.run(None, {value.name: x})
        latencies.append(time.perf_counter() - before)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - start
    latencies.sort()
    samples = batch * len(latencies)
    return {"batch": batch, "images_per_second": samples / wall, "cpu_milliseconds_per_image": 1e3 * cpu / samples,
            "latency_p50_milliseconds": 1e3 * statistics.median(latencies),
            "latency_p99_milliseconds": 1e3 * latencies[min(len(latencies) - 1, int(0.99 * len(latencies)))]}


def run(options):
    import onnxruntime
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(options.file, settings, providers=["CPUExecutionProvider"])
    rows = [time_batch(session, batch, options.seconds) for batch in options.batch]
    print(json.dumps({"system": f"onnxruntime {onnxruntime.__version__}", "inference": rows}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--shape", metavar="C,H,W", help="of a sample of --network")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--file")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    write(options) if options.write else run(options)


if __name__ == "__main__":
    main()
