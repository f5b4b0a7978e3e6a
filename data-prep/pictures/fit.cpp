#include "convoke/data_prep/pictures/fit.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/data_prep/pictures/fundus.hpp"
#include "stretch.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::array kFits{
    Fit{"area", place_stretched, enough_stretched},
    Fit{"letter-box", place_letter_box, enough_letter_box},
    Fit{"crop", place_cropped, enough_cropped},
    Fit{"fundus", place_fundus, enough_fundus, 256},
};

}  // namespace

const Fit& find_fit(std::string_view name) { return find_in(kFits, name, "fit"); }

std::vector<std::string> fit_names() { return names_in(kFits); }

// A picture that already has the size is stored unchanged, whatever the fit.
void apply(const Fit& fit, const Image& picture, const PictureSize& size, std::span<std::uint8_t> sample) {
  ensure(sample.size() == static_cast<std::size_t>(size.height * size.width * picture.channels),
         "a sample has room for the fitted picture");
  if (picture.extent() == size) {
    std::copy(picture.values.begin(), picture.values.end(), sample.begin());
    return;
  }
  const Placement place = fit.place(picture, size);
  if (place.size != size) std::fill(sample.begin(), sample.end(), std::uint8_t{0});
  resize(picture, place.from, place.size,
         sample.data() + (place.top * size.width + place.left) * picture.channels,
         size.width * picture.channels);
}

}  // namespace convoke::data_prep
