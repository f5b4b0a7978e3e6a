#!/usr/bin/env python3
"""Writes events.tfevents with TensorBoard's own messages and record writer, for run_log_test.cpp.

pip install tensorboard (2.21 made the file that is here); make_events.py [FOLDER]
With --check FILE_OR_FOLDER it prints what TensorBoard reads of event files, as `tensorboard --logdir` would:
    make_events.py --check runs/mnist-sync-20260101-120000/tensorboard
"""
import pathlib
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter


def check(path):
    events = EventAccumulator(path, size_guidance={"scalars": 0})
    events.Reload()
    for tag in sorted(events.Tags()["scalars"]):
        print(tag, " ".join(f"{e.step}:{e.value:.6g}" for e in events.Scalars(tag)))


def summary(*scalars):
    return Summary(value=[Summary.Value(tag=tag, simple_value=value) for tag, value in scalars])


def write(folder):
    with open(folder / "events.tfevents", "wb") as out:
        writer = RecordWriter(out)
        for event in (
            Event(wall_time=1700000000.25, file_version="brain.Event:2"),
            Event(wall_time=1700000001.5, step=301, session_log=SessionLog(status=SessionLog.START)),
            Event(wall_time=1700000002.75, step=600, summary=summary(("loss/train", 0.125), ("accuracy/train", 0.0), ("é", -1e-7))),
            Event(wall_time=1700000003.0, step=1 << 40, summary=summary(("long/" + 200 * "x", float("nan")))),
        ):
            writer.write(event.SerializeToString())
        writer.flush()


if sys.argv[1:2] == ["--check"]:
    check(sys.argv[2])
else:
    write(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent))
