#include "report/diagram/folding.hpp"

#include <algorithm>

namespace convoke::report {
namespace {

constexpr std::size_t kLongestPeriod = 12;  // sections that repeat together
constexpr std::size_t kLeastSaved = 2;      // boxes; fewer are not worth a frame

std::size_t size_of(const Section& section) { return section.last - section.first + 1; }

bool equal(const Diagram& diagram, const Section& a, const Section& b) {
  if (size_of(a) != size_of(b)) return false;
  for (std::size_t i = 0; i < size_of(a); ++i) {
    DiagramBox one = diagram.boxes[a.first + i], other = diagram.boxes[b.first + i];
    for (std::size_t& input : one.inputs) input = a.first + i - input;
    for (std::size_t& input : other.inputs) input = b.first + i - input;
    if (one != other) return false;
  }
  return true;
}

// How often the `period` sections from `first` on occur in a row.
std::size_t repeats(const Diagram& diagram, const std::vector<Section>& sections, std::size_t first,
                    std::size_t period) {
  std::size_t next = first + period;
  while (next < sections.size() && equal(diagram, sections[next], sections[next - period])) ++next;
  return (next - first) / period;
}

}  // namespace

std::vector<Section> sections_of(const Diagram& diagram) {
  const std::size_t count = diagram.boxes.size();
  std::vector<std::size_t> reach(count);  // the last box that reads each box
  for (std::size_t i = 0; i < count; ++i) {
    reach[i] = i;
    for (const std::size_t input : diagram.boxes[i].inputs) reach[input] = i;
  }
  std::vector<Section> sections;
  std::size_t first = 0, furthest = 0;  // furthest: of the boxes before i
  for (std::size_t i = 0; i < count; ++i) {
    if (furthest <= i || i + 1 == count) {
      sections.push_back({first, i});
      first = i + 1;
    }
    furthest = std::max(furthest, reach[i]);
  }
  return sections;
}

std::vector<Group> folded(const Diagram& diagram) {
  const std::vector<Section> sections = sections_of(diagram);
  std::vector<Group> groups;
  for (std::size_t first = 0; first < sections.size();) {
    std::size_t best_period = 1, best_count = 1, best_saved = 0;
    for (std::size_t period = 1; period <= kLongestPeriod && first + 2 * period <= sections.size();
         ++period) {
      const std::size_t count = repeats(diagram, sections, first, period);
      const std::size_t boxes = sections[first + period - 1].last - sections[first].first + 1;
      const std::size_t saved = boxes * (count - 1);
      if (saved >= kLeastSaved && saved > best_saved) {
        best_period = period, best_count = count, best_saved = saved;
      }
    }
    const auto begin = sections.begin() + static_cast<std::ptrdiff_t>(first);
    groups.push_back({{begin, begin + static_cast<std::ptrdiff_t>(best_period)}, best_count});
    first += best_period * best_count;
  }
  return groups;
}

}  // namespace convoke::report
