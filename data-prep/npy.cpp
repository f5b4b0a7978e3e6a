#include "convoke/data_prep/npy.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <fstream>
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

constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why, std::string hint = {}) {
  throw Error(fmt::format("{}: {}", file.string(), why), std::move(hint));
}

/// The value of `key` in the header, as it is written there, without the blanks around it.
std::string_view value_of(std::string_view header, std::string_view key, const std::filesystem::path& file) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) refuse(file, fmt::format("is damaged: its header has no '{}'", key));
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const bool tuple = rest.starts_with('(');
  const std::size_t end = tuple ? rest.find(')') : rest.find_first_of(",}");
  if (end == std::string_view::npos) refuse(file, "is damaged: its header is cut off");
  return rest.substr(0, end + (tuple ? 1 : 0));
}

// "(3, 4)", "(3,)", "()".
Shape parse_shape(std::string_view text, const std::filesystem::path& file) {
  std::vector<std::int64_t> extents;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at != end) {
    if (*at < '0' || *at > '9') {
      if (std::string_view("(), L").find(*at) == std::string_view::npos) {
        refuse(file, fmt::format("is damaged: its shape is {}", text));
      }
      ++at;
      continue;
    }
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc{}) refuse(file, fmt::format("is damaged: its shape is {}", text));
    extents.push_back(extent);
    at = next;
  }
  return Shape(std::move(extents));
}

template <class T>
std::vector<T> read_values(std::ifstream& in, const Shape& shape, std::uint64_t available,
                           const std::filesystem::path& file) {
  // Compared by division: the product of a damaged header's extents may overflow.
  std::uint64_t count = 1;
  bool fits = true;
  for (const std::int64_t extent : shape.extents()) {
    const auto n = static_cast<std::uint64_t>(extent);
    if (n == 0) count = 0;
    fits = fits && (n == 0 || count <= available / sizeof(T) / n);
    if (fits) count *= n;
  }
  if (!fits || count * sizeof(T) > available) {
    refuse(file,
           fmt::format("is truncated: shape {} of {}-byte values needs more than the {} bytes there are",
                       shape.to_string(), sizeof(T), available));
  }
  std::vector<T> values(count);
  if (!in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)))) {
    refuse(file, fmt::format("cannot be read: {}", std::generic_category().message(errno)));
  }
  return values;
}

template <class T>
void write_values(const std::filesystem::path& file, const Shape& shape, std::span<const T> values,
                  std::string_view type) {
  assert(static_cast<std::int64_t>(values.size()) == shape.elements());
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                                   fmt::join(shape.extents(), ", "), shape.rank() == 1 ? "," : "");
  // Padded so that the values begin at a multiple of 64 bytes.
  constexpr std::size_t kFixed = 10;
  header.append(63 - (kFixed + header.size()) % 64, ' ').push_back('\n');
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << kMagic << '\x01' << '\x00' << static_cast<char>(header.size() & 0xFF)
      << static_cast<char>(header.size() >> 8) << header;
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  out.close();
  if (!out) refuse(file, fmt::format("cannot be written: {}", std::generic_category().message(errno)));
}

}  // namespace

NpyArray read_npy(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in || std::filesystem::is_directory(file)) {
    refuse(file, fmt::format("cannot be opened: {}", std::filesystem::is_directory(file)
                                                         ? "it is a folder"
                                                         : std::generic_category().message(errno)));
  }
  const auto bytes = static_cast<std::uint64_t>(in.tellg());
  in.seekg(0);

  std::array<char, 8> start{};
  in.read(start.data(), start.size());
  if (!std::string_view(start.data(), static_cast<std::size_t>(in.gcount())).starts_with(kMagic)) {
    refuse(file, "is no .npy file",
           bytes >= 2 && start[0] == 'P' && start[1] == 'K'
               ? "it is an archive (.npz): save the one array with numpy.save"
               : "");
  }
  const int version = start[6];
  if (in && (version < 1 || version > 3))
    refuse(file, fmt::format("has .npy version {}; 1 to 3 are known", version));
  std::array<unsigned char, 4> length{};
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  in.read(reinterpret_cast<char*>(length.data()), static_cast<std::streamsize>(length_bytes));
  const std::uint64_t header_bytes = length[0] | length[1] << 8 |
                                     static_cast<std::uint64_t>(length[2]) << 16 |
                                     static_cast<std::uint64_t>(length[3]) << 24;
  const std::uint64_t data_begin = start.size() + length_bytes + header_bytes;
  if (!in || data_begin > bytes) refuse(file, "is truncated: its header is cut off");
  std::string header(header_bytes, '\0');
  in.read(header.data(), static_cast<std::streamsize>(header.size()));

  const std::string_view type = value_of(header, "descr", file);
  if (value_of(header, "fortran_order", file) != "False") {
    refuse(file, "is in Fortran order", "save numpy.ascontiguousarray(x)");
  }
  NpyArray array;
  array.shape = parse_shape(value_of(header, "shape", file), file);
  const auto read_as = [&]<class T>(T) {
    array.values = read_values<T>(in, array.shape, bytes - data_begin, file);
  };
  if (type == "'|u1'" || type == "'<u1'") {
    read_as(std::uint8_t{});
  } else if (type == "'<i4'") {
    read_as(std::int32_t{});
  } else if (type == "'<i8'") {
    read_as(std::int64_t{});
  } else if (type == "'<f4'") {
    read_as(float{});
  } else if (type == "'<f8'") {
    read_as(double{});
  } else {
    refuse(file, fmt::format("holds values of type {}", type),
           "convert it with x.astype(...): uint8, int32, int64, float32 and float64 are read");
  }
  return array;
}

void write_npy(const std::filesystem::path& file, const Shape& shape, std::span<const float> values) {
  write_values(file, shape, values, "<f4");
}

void write_npy(const std::filesystem::path& file, const Shape& shape, std::span<const std::int32_t> values) {
  write_values(file, shape, values, "<i4");
}

}  // namespace convoke::data_prep
