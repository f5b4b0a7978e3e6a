"""Makes the datasets here (h5py 3.14): those that docs/formats.md shows how to write, by running what it shows, and
packed.h5, the table as others may store it."""
import os
import re

os.chdir(os.path.dirname(os.path.abspath(__file__)))
page = open("../../../docs/formats.md").read()
section = page.split("### Writing a dataset with h5py\n")[1].split("\n### ")[0]
names = {}
for block in re.findall(r"```python\n(.*?)```", section, re.S):
    exec(block, names)

with names["h5py"].File("packed.h5", "w") as f:
    f.attrs.update(convoke_format="dataset", format_version=1, classes=3)
    for name, values in (("samples", names["table"]), ("weights", names["weights"]), ("labels", names["labels"])):
        big_endian = values.astype(values.dtype.newbyteorder(">"))
        f.create_dataset(f"train/{name}", data=big_endian, chunks=(7, *values.shape[1:]), compression="gzip")

for name in ("images", "maps", "table", "signals", "tokens", "labels", "weights"):
    values = names[name]
    print(name, values.dtype, values.shape, values.ravel()[[0, 1, -1]], f"{names['np'].float64(values.sum(dtype='f8')):.9g}")
