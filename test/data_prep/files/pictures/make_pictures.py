"""Makes the pictures of test/data_prep/pictures and what Pillow (13) makes of them, here: x.* is a picture,
expected/x.rgb.png and expected/x.gray.png are ImageOps.exif_transpose(picture).convert("RGB") and ("L")."""
import os
import struct
import zlib

import numpy as np
from PIL import Image, ImageOps

os.chdir(os.path.dirname(os.path.abspath(__file__)))
os.makedirs("expected", exist_ok=True)
rng = np.random.default_rng(7)
y, x = np.mgrid[0:13, 0:18]
rgb = np.stack([12 * x + 3 * y, 255 - 14 * y - x, 128 + 60 * np.sin(x / 3) + 60 * np.cos(y / 2)], -1).astype("u1")
picture = Image.fromarray(rgb)
alpha = Image.fromarray((x * 14).astype("u1"))


def png16(name, values, color_type):
    """Writes (H, W, C) uint16 as a PNG of 16 bits, which Pillow does not write in color."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width = values.shape[:2]
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    with open(name, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, color_type, 0, 0, 0))
                  + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


deep = rgb.astype("u2") * 257 - rng.integers(0, 200, rgb.shape).astype("u2") * (rgb > 0)
png16("deep_rgb.png", deep, 2)
png16("deep_rgba.png", np.dstack([deep, deep[..., :1]]), 6)
png16("deep_gray_alpha.png", deep[..., :2], 4)
picture.convert("L").save("gray.png")
Image.merge("LA", [picture.convert("L"), alpha]).save("gray_alpha.png")
picture.convert("1").save("bits.png")
picture.quantize(16).save("palette.png")
picture.quantize(200).save("palette_transparent.png", transparency=3)
picture.convert("RGBA").save("opaque.png")
rgba = picture.copy()
rgba.putalpha(alpha)
rgba.save("rgba.png")
picture.save("rgb_transparent.png", transparency=(0, 255, 248))
picture.save("rgb.bmp")
picture.convert("L").save("gray.bmp")
picture.quantize(16).save("palette.bmp")
picture.convert("1").save("bits.bmp")
smooth = picture.resize((54, 39), Image.BICUBIC)
smooth.save("baseline.jpg", quality=92)
smooth.save("progressive.jpg", quality=92, progressive=True)
smooth.save("full_chroma.jpg", quality=92, subsampling=0)
smooth.convert("L").save("gray.jpg", quality=92)
smooth.convert("CMYK").save("cmyk.jpg", quality=92)  # inverted, as Adobe does
Image.new("RGB", (1, 1), (200, 30, 60)).save("one.png")
Image.new("RGB", (1, 1), (200, 30, 60)).save("one.jpg", quality=95)
for orientation in range(1, 9):
    exif = Image.Exif()
    exif[0x0112] = orientation
    smooth.save(f"exif{orientation}.jpg", quality=92, exif=exif)
    if orientation == 6:
        picture.save("exif6.png", exif=exif)

for name in sorted(os.listdir(".")):
    stem, ending = os.path.splitext(name)
    if ending not in (".png", ".bmp", ".jpg"):
        continue
    opened = ImageOps.exif_transpose(Image.open(name))
    opened.convert("RGB").save(f"expected/{name}.rgb.png")
    opened.convert("L").save(f"expected/{name}.gray.png")

# Convoke takes the upper 8 of 16 bits in gray too; convert("L") would clamp at 255.
png16("deep_gray.png", deep[..., :1], 0)
Image.fromarray((deep[..., 0] >> 8).astype("u1")).save("expected/deep_gray.png.gray.png")
Image.fromarray((deep[..., 0] >> 8).astype("u1")).convert("RGB").save("expected/deep_gray.png.rgb.png")

# Resizing. If sizes do not divide, the mean over areas is Pillow's BOX of the picture with every pixel
# repeated until they do.
noisy = np.clip(np.asarray(picture.resize((80, 60), Image.BICUBIC)).astype(int) + rng.integers(-40, 40, (60, 80, 3)), 0, 255)
large = Image.fromarray(noisy.astype("u1"))
large.save("large.png")


def area(image, width, height):
    return image.resize((image.width * width, image.height * height), Image.NEAREST).resize((width, height), Image.BOX)


expected = {
    "area_16x20": large.resize((20, 15), Image.BOX),
    "area_7x80": area(large, 80, 7),
    "area_23x31": area(large, 31, 23),
    "area_59x79": area(large, 79, 59),
    "area_1x1": area(large, 1, 1),
    "area_97x150": large.resize((150, 97), Image.BICUBIC),
    "area_61x200": large.resize((200, 61), Image.BICUBIC),
    "area_20x200": area(large, 80, 20).resize((200, 20), Image.BICUBIC),
    "crop_20x20": ImageOps.fit(large, (20, 20), Image.BOX),
    "crop_30x10": ImageOps.fit(large, (10, 30), Image.BOX),
    "crop_90x90": ImageOps.fit(large, (90, 90), Image.BICUBIC),
    "letter-box_40x40": ImageOps.pad(large, (40, 40), Image.BOX),
    "letter-box_60x20": ImageOps.pad(large, (20, 60), Image.BOX),
    "letter-box_100x100": ImageOps.pad(large, (100, 100), Image.BICUBIC),
    "letter-box_61x91": ImageOps.pad(large, (91, 61), Image.BICUBIC),
}
for name, image in expected.items():
    fit, size = name.split("_")
    image.save(f"expected/{fit}_{image.height}x{image.width}.png")
