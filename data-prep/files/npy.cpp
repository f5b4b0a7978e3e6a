#include "convoke/data_prep/files/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "convoke/core/error.hpp"

// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//   "\x93NUMPY", version major and minor, header length (2 bytes; 4 from version 2 on), the header, which is
//   a Python dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, then the values.

namespace convoke::data_prep {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::uint64_t kMostHeader = 1U << 20;  // bytes; NumPy itself reads up to 10,000

[[noreturn]] void refuse_npy(const std::string& name, const std::string& why, std::string hint = {}) {
  throw Error(fmt::format("{}: {}", name, why), std::move(hint));
}

/// Returns the value of `key` in the header as it is written, without the blanks around it.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& name) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) refuse_npy(name, fmt::format("is damaged: its header has no '{}'", key));
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const char close = rest.starts_with('(') ? ')' : rest.starts_with('[') ? ']' : '\0';
  const std::size_t end = close != '\0' ? rest.find(close) : rest.find_first_of(",}");
  if (end == std::string_view::npos) refuse_npy(name, "is damaged: its header is cut off");
  return rest.substr(0, end + (close != '\0' ? 1 : 0));
}

// Parses "(3, 4)", "(3,)" or "()".
Shape parse_shape(std::string_view text, const std::string& name) {
  std::vector<std::int64_t> extents;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at != end) {
    if (*at < '0' || *at > '9') {
      if (std::string_view("(), L").find(*at) == std::string_view::npos) {
        refuse_npy(name, fmt::format("is damaged: its shape is {}", text));
      }
      ++at;
      continue;
    }
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc{}) refuse_npy(name, fmt::format("is damaged: its shape is {}", text));
    extents.push_back(extent);
    at = next;
  }
  return Shape(std::move(extents));
}

// Returns the number of values of `shape`. Throws Error unless they fit into the available bytes, if known.
// Compares by division, because the product of a damaged header's extents may overflow.
std::uint64_t count_values(const Shape& shape, std::size_t value_bytes, std::uint64_t available,
                           const std::string& name) {
  std::uint64_t count = 1;
  bool fits = true;
  for (const std::int64_t extent : shape.extents()) {
    const auto n = static_cast<std::uint64_t>(extent);
    if (n == 0) return 0;
    fits = fits && count <= available / value_bytes / n;
    if (fits) count *= n;
  }
  if (!fits || count * value_bytes > available) {
    refuse_npy(
        name, fmt::format("is truncated: shape {} of {}-byte values needs more than the {} bytes in the file",
                          shape.to_string(), value_bytes, available));
  }
  return count;
}

NpyValues values_of(std::string_view type, const std::string& name) {
  if (type == "'|u1'" || type == "'<u1'") return std::vector<std::uint8_t>();
  if (type == "'<i4'") return std::vector<std::int32_t>();
  if (type == "'<i8'") return std::vector<std::int64_t>();
  if (type == "'<f4'") return std::vector<float>();
  if (type == "'<f8'") return std::vector<double>();
  if (type.starts_with("'|O")) {
    refuse_npy(name, "holds pickled Python objects, and reading a pickle may run any program",
               "save numbers instead: numpy.stack(list(x)), with padding if rows differ in length");
  }
  if (type.starts_with("'<U") || type.starts_with("'|S")) {
    refuse_npy(name, fmt::format("holds texts of type {}", type),
               "labels must be numbers: names, y = numpy.unique(y, return_inverse=True)");
  }
  refuse_npy(name, fmt::format("holds values of type {}", type),
             type.starts_with('[')
                 ? "save an array of each field, such as x['a']"
                 : "convert it with x.astype(...): uint8, int32, int64, float32 and float64 are supported");
}

template <class T>
void write_values(const std::filesystem::path& file, const Shape& shape, std::span<const T> values,
                  std::string_view type) {
  ensure(static_cast<std::int64_t>(values.size()) == shape.elements(), "as many values as the shape says");
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                                   fmt::join(shape.extents(), ", "), shape.rank() == 1 ? "," : "");
  // Padding makes the values begin at a multiple of 64 bytes.
  constexpr std::size_t kFixed = 10;
  header.append(63 - (kFixed + header.size()) % 64, ' ').push_back('\n');
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << kNpyMagic << '\x01' << '\x00' << static_cast<char>(header.size() & 0xFF)
      << static_cast<char>(header.size() >> 8) << header;
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  out.close();
  if (!out)
    refuse_npy(file.string(), fmt::format("cannot be written: {}", std::generic_category().message(errno)));
}

}  // namespace

NpyReader::NpyReader(std::unique_ptr<archive::ByteReader> bytes)
    : SampleArray(bytes->name()), bytes_(std::move(bytes)) {
  std::array<char, 8> start{};
  const std::size_t got = bytes_->read_some(0, std::as_writable_bytes(std::span(start)));
  if (!std::string_view(start.data(), got).starts_with(kNpyMagic)) {
    refuse_npy(name(), "is not an .npy file",
               start[0] == 'P' && start[1] == 'K'
                   ? "it is an archive (.npz): save the one array with numpy.save"
                   : "");
  }
  const int version = start[6];
  if (got == start.size() && (version < 1 || version > 3)) {
    refuse_npy(name(), fmt::format("has .npy version {}; versions 1 to 3 are supported", version));
  }
  const auto read_header = [&](std::span<std::byte> part) {
    if (bytes_->read_some(begin_, part) < part.size())
      refuse_npy(name(), "is truncated: its header is cut off");
    begin_ += part.size();
  };
  if (got < start.size()) refuse_npy(name(), "is truncated: its header is cut off");
  begin_ = start.size();
  std::array<std::uint8_t, 4> length{};
  read_header(std::as_writable_bytes(std::span(length)).first(version == 1 ? 2 : 4));
  const std::uint64_t header_bytes = length[0] | static_cast<std::uint64_t>(length[1]) << 8 |
                                     static_cast<std::uint64_t>(length[2]) << 16 |
                                     static_cast<std::uint64_t>(length[3]) << 24;
  if (header_bytes > kMostHeader)
    refuse_npy(name(), fmt::format("is damaged: its header has {} bytes", header_bytes));
  std::string header(header_bytes, '\0');
  read_header(std::as_writable_bytes(std::span(header)));

  none_ = values_of(value_of(header, "descr", name()), name());
  if (value_of(header, "fortran_order", name()) != "False") {
    refuse_npy(name(), "is in Fortran order", "save numpy.ascontiguousarray(x)");
  }
  shape_ = parse_shape(value_of(header, "shape", name()), name());
  const std::uint64_t size = bytes_->size().value_or(std::numeric_limits<std::int64_t>::max());
  count_ = std::visit(
      [&](const auto& type) { return count_values(shape_, sizeof(type[0]), size - begin_, name()); }, none_);
}

NpyValues SampleArray::values(std::size_t count) const {
  return std::visit([&](auto type) -> NpyValues { return decltype(type)(count); }, none_);
}

void NpyReader::read(std::uint64_t first, NpyValues& values) {
  ensure(values.index() == none_.index(), "values have the array's type");
  std::visit(
      [&](auto& into) {
        ensure(first + into.size() <= count_, "values lie within the array");
        bytes_->read(begin_ + first * sizeof(into[0]), std::as_writable_bytes(std::span(into)));
        std::byte behind{};
        if (first + into.size() == count_) bytes_->read_some(begin_ + count_ * sizeof(into[0]), {&behind, 1});
      },
      values);
}

NpyArray read_all(SampleArray& array) {
  NpyArray all{array.shape(), array.values(static_cast<std::size_t>(array.shape().elements()))};
  array.read(0, all.values);
  return all;
}

NpyArray read_npy(const std::filesystem::path& file) {
  NpyReader array(archive::open_plain(file));
  return read_all(array);
}

void write_npy(const std::filesystem::path& file, const Shape& shape, std::span<const float> values) {
  write_values(file, shape, values, "<f4");
}

void write_npy(const std::filesystem::path& file, const Shape& shape, std::span<const std::int32_t> values) {
  write_values(file, shape, values, "<i4");
}

}  // namespace convoke::data_prep
