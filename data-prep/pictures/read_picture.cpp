#include "convoke/data_prep/pictures/read_picture.hpp"

#include <fmt/format.h>

#include <cassert>
#include <nlohmann/json.hpp>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/data_prep/pictures/fit.hpp"
#include "convoke/pictures/decode.hpp"

namespace convoke::data_prep {

PictureReader::PictureReader(PictureOptions options) : options_(std::move(options)) {
  const Fit& fit = find_fit(options_.fit);
  if (options_.channels != 0 && options_.channels != 1 && options_.channels != 3) {
    throw Error(fmt::format("pictures cannot become samples of {} channels", options_.channels),
                "1 is grey, 3 is RGB");
  }
  if (options_.height == 0) options_.height = fit.usual_size;
  if (options_.width == 0) options_.width = options_.height;
  for (const std::int64_t side : {options_.height, options_.width}) {
    if (side < 0 || side > pictures::kLongestSide || (side > 0) != (options_.height > 0)) {
      throw Error(fmt::format("samples cannot have {} x {} pixels", options_.height, options_.width),
                  fmt::format("height and width must be in 1..{}", pictures::kLongestSide));
    }
  }
}

void PictureReader::learn(std::span<const std::byte> encoded, const std::string& name) {
  const pictures::PictureShape shape = pictures::picture_shape(encoded, name);
  if (options_.channels == 0) options_.channels = shape.channels;
  if (options_.height == 0) {
    options_.height = shape.extent.height;
    options_.width = shape.extent.width;
    example_ = name;
  }
}

void PictureReader::learn(const Catalogue& catalogue,
                          const std::function<std::vector<std::byte>(std::size_t item)>& encoded) {
  if (options_.height > 0 && options_.channels > 0) return;
  std::optional<Error> first;
  for (std::size_t i = 0; i < catalogue.items.size(); ++i) {
    if (!catalogue.items[i].fault.empty()) continue;
    try {
      learn(encoded(i), catalogue.items[i].name);
      return;
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  if (first) throw Error(fmt::format("no picture can be read to find the size: {}", first->what()));
  throw Error("no picture can be read to find the size");
}

SampleFormat PictureReader::format() const {
  assert(options_.height > 0 && options_.channels > 0);
  const nlohmann::ordered_json how{{"kind", "picture"},
                                   {"fit", options_.fit},
                                   {"height", options_.height},
                                   {"width", options_.width},
                                   {"channels", options_.channels}};
  return {.shape = {options_.channels, options_.height, options_.width}, .preparation = how.dump()};
}

Original PictureReader::read(std::span<const std::byte> encoded, const std::string& name,
                             std::span<std::byte> sample) const {
  const PictureSize size{options_.height, options_.width};
  const PictureSize original = pictures::picture_shape(encoded, name).extent;
  if (!example_.empty() && original != size) {
    throw Error(fmt::format("{}: has {} x {} pixels, but {} has {} x {}", name, original.height,
                            original.width, example_, size.height, size.width),
                "--size HxW gives all pictures one size, and --fit chooses how");
  }
  const Fit& fit = find_fit(options_.fit);
  const Image picture =
      pictures::decode_picture(encoded, name, options_.channels, fit.enough(original, size));
  apply(fit, picture, size, {reinterpret_cast<std::uint8_t*>(sample.data()), sample.size()});
  Original result{.height = static_cast<std::int32_t>(original.height),
                  .width = static_cast<std::int32_t>(original.width),
                  .bytes = encoded.size()};
  if (original == size && picture.extent() == size) result.encoded.assign(encoded.begin(), encoded.end());
  return result;
}

PictureOptions picture_options(const std::string& preparation, const std::string& where) {
  try {
    const auto how = nlohmann::json::parse(preparation);
    if (const std::string kind = how.at("kind"); kind != "picture") {
      throw Error(fmt::format("{}: prepares samples of kind {}, not pictures", where, kind));
    }
    return {.height = how.at("height"),
            .width = how.at("width"),
            .fit = how.at("fit"),
            .channels = how.at("channels")};
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: its preparation is damaged: {}", where, error.what()));
  }
}

}  // namespace convoke::data_prep
