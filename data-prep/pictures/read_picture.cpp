#include "convoke/data_prep/pictures/read_picture.hpp"

#include <fmt/format.h>

#include <cassert>
#include <iterator>
#include <nlohmann/json.hpp>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/pictures/fit.hpp"
#include "convoke/pictures/decode.hpp"

namespace convoke::data_prep {

PictureReader::PictureReader(PictureOptions options) : options_(std::move(options)) {
  const Fit& fit = find_fit(options_.fit);
  if (options_.channels != 0 && options_.channels != 1 && options_.channels != 3) {
    throw Error(fmt::format("pictures cannot become samples of {} channels", options_.channels),
                "1 is gray, 3 is RGB");
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

void PictureReader::learn(std::span<const std::byte> encoded, const std::string& name,
                          std::vector<Assumption>& assumptions) {
  const pictures::PictureShape shape = pictures::picture_shape(encoded, name);
  const std::string why = "of the first picture, " + name;
  if (options_.height == 0) {
    options_.height = shape.extent.height;
    options_.width = shape.extent.width;
    example_ = name;
    assumptions.push_back({.what = "size",
                           .taken = fmt::format("{}x{}", options_.height, options_.width),
                           .why = why,
                           .option = "--size"});
  }
  if (options_.channels == 0) {
    options_.channels = shape.channels;
    assumptions.push_back({.what = "channels",
                           .taken = options_.channels == 1 ? "1, gray" : "3, RGB",
                           .why = why,
                           .option = "--channels"});
  }
}

void PictureReader::learn(Catalog& catalog,
                          const std::function<std::vector<std::byte>(std::size_t item)>& encoded) {
  if (options_.height > 0 && options_.channels > 0) return;
  constexpr std::size_t kShown = 5;
  std::string reasons;
  for (std::size_t i = 0; i < catalog.items.size(); ++i) {
    const Item& item = catalog.items[i];
    std::string reason = item.fault;
    if (reason.empty()) {
      try {
        return learn(encoded(i), item.name, catalog.assumptions);
      } catch (const Error& error) {
        reason = error.what();
      }
    }
    if (i < kShown) reasons += "\n  " + with_name(item.name, reason);
  }
  if (catalog.items.size() > kShown)
    reasons += fmt::format("\n  and {} more", format_count(std::ssize(catalog.items) - kShown));
  throw Error(fmt::format("{}: no picture can be read to find {}{}", catalog.provenance,
                          options_.height == 0 ? "the size" : "the number of channels",
                          reasons.empty() ? "" : ":" + reasons),
              "fix or replace them: JPEG, PNG and BMP are read");
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
