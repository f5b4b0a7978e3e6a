"""Makes the WebDataset shards for webdataset_test.cpp in this folder (Python's tarfile; Pillow writes pictures)."""
import io
import pathlib
import tarfile

import numpy as np
from PIL import Image


def picture(i, kind="PNG", height=6, width=5):
    """Returns a picture whose pixel (y, x, c) is 40i + 9y + 17x + 80c modulo 256."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    out = io.BytesIO()
    Image.fromarray(((40 * i + 9 * y + 17 * x + 80 * c) % 256).astype("u1")).save(out, kind)
    return out.getvalue()


def write(file, members, format=tarfile.USTAR_FORMAT):
    """Writes members, given by names and bytes, in order; a name that ends in / is a folder, bytes None a link."""
    path = pathlib.Path(file)
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:gz" if file.endswith("gz") else "w", format=format) as tar:
        for name, data in members:
            member = tarfile.TarInfo(name)
            if name.endswith("/"):
                member.type = tarfile.DIRTYPE
                tar.addfile(member)
            elif data is None:
                member.type, member.linkname = tarfile.SYMTYPE, "elsewhere"
                tar.addfile(member)
            else:
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))


def samples(numbers, label, prefix="", ending="png"):
    return [m for i in numbers for m in ((f"{prefix}{i:04}.{ending}", picture(i)), (f"{prefix}{i:04}.cls", label(i)))]


LONG = "a folder with a long name/" * 5      # 130 characters, more than ustar's first field
number = lambda i: str(i % 3).encode()
named = lambda i: ["wren", "kite", "crow"][i % 3].encode() + b"\n"
write("shards/birds-train-000000.tar", [("./", b"")] + samples(range(3), number, "./"))
write("shards/birds-train-000001.tar", samples(range(3, 5), number, LONG, "PNG"), tarfile.GNU_FORMAT)
write("shards/birds-val-000000.tar", samples(range(5, 7), number, "ü" + LONG), tarfile.PAX_FORMAT)
write("shards/birds-test-000000.tar", samples(range(7, 9), number, LONG))    # in ustar's two fields
write("named.tar.gz", samples(range(6), named))
write("endings.tgz", [m for i in range(4) for m in ((f"{i}.left.png", picture(i)), (f"{i}.right.png", picture(i + 10)),
                                                     (f"{i}.grade", number(i)), (f"{i}.json", b"{}"))])
write("faults.tar", [("a.png", picture(0)), ("a.cls", b"0"), ("b.cls", b"1"), ("c.png", picture(2)),
                     ("d.png", picture(3)), ("d.jpg", picture(3, "JPEG")), ("d.cls", b"1"), ("e.png", picture(4)), ("e.cls", b"-7"),
                     ("notes", b"no ending"), ("link.png", None), ("f.bmp", picture(5, "BMP")), ("f.cls", b"1")])
write("no_label.tar", [(f"{i}.{e}", d) for i in range(2) for e, d in (("png", picture(i)), ("json", b"{}"))])
write("no_picture.tar", [(f"{i}.{e}", d) for i in range(2) for e, d in (("txt", b"a"), ("cls", number(i)))])
write("one_class.tar", samples(range(2), lambda i: b"1"))
