"""Makes the TFRecords for tfrecord_test.cpp in this folder (TensorFlow 2.21 writes records and pictures)."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf


def picture(i, height=6, width=5):
    """Returns a PNG whose pixel (y, x, c) is 40i + 9y + 17x + 80c modulo 256."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    return tf.io.encode_png(((40 * i + 9 * y + 17 * x + 80 * c) % 256).astype("u1")).numpy()


def feature(value):
    if isinstance(value, (bytes, str)):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode() if isinstance(value, str) else value]))
    values = value if isinstance(value, list) else [value]
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def write(file, examples, compression=""):
    with tf.io.TFRecordWriter(file, tf.io.TFRecordOptions(compression_type=compression)) as writer:
        for features in examples:
            example = tf.train.Example(features=tf.train.Features(feature={k: feature(v) for k, v in features.items()}))
            writer.write(example.SerializeToString(deterministic=True))


# Like ImageNet's conversion: numbered files without an ending, names of the classes next to the numbers.
os.makedirs("imagenet", exist_ok=True)
NAMES = ["cat", "dog", "owl"]
for shard in range(2):
    write(f"imagenet/train-{shard:05}-of-00002",
          [{"image/encoded": picture(i), "image/class/label": i % 3, "image/class/text": NAMES[i % 3],
            "image/format": "PNG", "image/height": 6, "image/object/bbox/xmin": [0.25, 0.5]}
           for i in range(4 * shard, 4 * shard + 4)])
write("imagenet/validation-00000-of-00001",
      [{"image/encoded": picture(i), "image/class/label": i % 3, "image/class/text": NAMES[i % 3]} for i in range(8, 10)])
# Like Kaggle's flowers: numbers and texts as labels, splits as folders, gzipped.
for split, first in (("train", 0), ("val", 3), ("test", 6)):
    os.makedirs(f"flowers/{split}", exist_ok=True)
    write(f"flowers/{split}/00-6x5-2.tfrec.gz",
          [{"image": picture(i), "class": i % 2, "label": ["rose", "daisy"][i % 2], "size": [6, 5],
            "one_hot_class": [0.0, 1.0]} for i in range(first, first + 3)], "GZIP")
# Labels that are texts; gzipped records in a file without .gz in its name.
write("texts.tfrecord", [{"image_raw": picture(i), "target": ["wren", "kite", "crow"][i % 3]} for i in range(5)], "GZIP")
write("named.tfrecords", [{"left": picture(i), "right": picture(i + 10), "grade": float(i % 2), "label": 7} for i in range(4)])
write("both.tfrecord", [{"image": picture(i), "image_raw": picture(i), "label": i % 2, "target": i % 2} for i in range(2)])
write("no_picture.tfrecord", [{"text": "a", "label": i % 2} for i in range(2)])
write("no_label.tfrecord", [{"image": picture(i), "height": 6} for i in range(2)])
write("one_class.tfrecord", [{"image": picture(i), "label": 1} for i in range(2)])
write("other_names.tfrecord", [{"image": picture(i), "class": 0, "label": ["rose", "daisy"][i % 2]} for i in range(2)])
write("faults.tfrecord", [{"image": picture(0), "label": 0}, {"label": 1}, {"image": picture(2)},
                          {"image": picture(3), "label": [0, 1]}, {"image": picture(4), "label": -1},
                          {"image": b"no picture", "label": 1}, {"image": picture(6), "label": 1}])
with tf.io.TFRecordWriter("no_example.tfrecord") as writer:
    writer.write(b"\xff\xff\xff")
