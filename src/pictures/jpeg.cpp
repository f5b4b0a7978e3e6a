#include "pictures/jpeg.hpp"

#include <fmt/format.h>

#include <csetjmp>
#include <cstddef>
#include <cstdio>

#ifdef CONVOKE_HAVE_LIBJPEG
#include <jerror.h>
#include <jpeglib.h>
#endif

#include "convoke/core/error.hpp"

namespace convoke::pictures {

#ifdef CONVOKE_HAVE_LIBJPEG
namespace {

/// libjpeg reports errors through callbacks that must not return: they jump back, over C frames only.
struct Failure {
  jpeg_error_mgr manager;  // first: libjpeg returns its address
  std::jmp_buf back;
  char reason[JMSG_LENGTH_MAX];
};

[[noreturn]] void fail(j_common_ptr info) {
  auto* const failure = reinterpret_cast<Failure*>(info->err);
  if (info->err->msg_code == JWRN_JPEG_EOF || info->err->msg_code == JWRN_HIT_MARKER) {
    std::snprintf(failure->reason, sizeof failure->reason, "the JPEG is truncated");
  } else {
    (*info->err->format_message)(info, failure->reason);
  }
  std::longjmp(failure->back, 1);
}

// Warnings about missing or wrong pixels are errors; others (superfluous bytes) are not.
void warn(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE))
    fail(info);
}

// Fills image.values, whose size is right for 8 / `reduction` eighths. This function has no objects with
// destructors, because errors jump out of it.
bool decode_rows(std::span<const std::uint8_t> encoded, unsigned reduction, Image& image, Failure& failure) {
  jpeg_decompress_struct info;
  info.err = jpeg_std_error(&failure.manager);
  failure.manager.error_exit = fail;
  failure.manager.emit_message = warn;
  if (setjmp(failure.back) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, encoded.data(), encoded.size());
  jpeg_read_header(&info, TRUE);
  info.scale_num = 1;
  info.scale_denom = reduction;
  info.out_color_space = image.channels == 1 ? JCS_GRAYSCALE : image.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_start_decompress(&info);
  // The rows go into `image`, which the caller sized by the header.
  if (info.output_height != image.height || info.output_width != image.width ||
      info.output_components != image.channels) {
    std::snprintf(failure.reason, sizeof failure.reason,
                  "it has %u x %u pixels of %d components, but its header gave %lld x %lld of %lld",
                  info.output_height, info.output_width, info.output_components,
                  static_cast<long long>(image.height), static_cast<long long>(image.width),
                  static_cast<long long>(image.channels));
    jpeg_destroy_decompress(&info);
    return false;
  }
  const std::size_t row_bytes = static_cast<std::size_t>(image.width * image.channels);
  constexpr JDIMENSION kRows = 16;
  JSAMPROW rows[kRows];
  while (info.output_scanline < info.output_height) {
    const JDIMENSION first = info.output_scanline;
    const JDIMENSION count = first + kRows <= info.output_height ? kRows : info.output_height - first;
    for (JDIMENSION i = 0; i < count; ++i) rows[i] = image.values.data() + (first + i) * row_bytes;
    jpeg_read_scanlines(&info, rows, count);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

std::int64_t reduced(std::int64_t extent, unsigned reduction) { return (extent + reduction - 1) / reduction; }

}  // namespace

Image decode_jpeg(std::span<const std::uint8_t> encoded, const PictureHeader& header,
                  const PictureSize& enough, const std::string& name) {
  if (header.components == 2) throw Error(fmt::format("{}: cannot be decoded: 2 components", name));
  const auto [height, width] = header.stored;
  unsigned reduction = 8;
  while (reduction > 1 && (height < enough.height * reduction || width < enough.width * reduction)) {
    reduction /= 2;
  }
  Image image{reduced(height, reduction), reduced(width, reduction), header.components, {}};
  image.part = {0, 0, static_cast<double>(height) / reduction, static_cast<double>(width) / reduction};
  image.values.resize(static_cast<std::size_t>(image.height * image.width * image.channels));
  Failure failure;
  if (!decode_rows(encoded, reduction, image, failure)) {
    throw Error(fmt::format("{}: cannot be decoded: {}", name, failure.reason));
  }
  return image;
}

bool has_libjpeg() { return true; }

#else

Image decode_jpeg(std::span<const std::uint8_t>, const PictureHeader&, const PictureSize&,
                  const std::string& name) {
  throw Error(fmt::format("{}: cannot be decoded: this program was built without libjpeg", name));
}

bool has_libjpeg() { return false; }

#endif

}  // namespace convoke::pictures
