#include "nn/plan/recomputation.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "nn/plan/arena.hpp"
#include "nn/plan/compiled_plan.hpp"

namespace convoke::nn {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

/// How the forward list uses a buffer; times are positions in the list.
struct BufferHistory {
  std::size_t first = kNever, last = 0;  ///< uses; the first one writes the buffer
  std::size_t last_write = 0;
  bool in_backward = false;
  bool pinned = false;  ///< used from outside, or without a step that could write it again

  bool used() const { return first != kNever; }
};

bool is_buffer(Ref ref) { return ref.place == Ref::Place::kActivation; }

/// True if the step writes this memory, whether or not an earlier step did.
bool overwrites(const Step& step, Ref ref) {
  return step.output.ref == ref || std::ranges::find(step.changes, ref) != step.changes.end();
}

class Checkpointing {
 public:
  Checkpointing(const CompiledPlan& plan, const std::vector<Step>& offers)
      : plan_(plan), offers_(plan.forward.size()), buffers_(plan.buffer_bytes.size()) {
    for (const Tensor* tensor : {&plan.input, &plan.output, &plan.logits, &plan.converted}) {
      if (is_buffer(tensor->ref)) buffers_[tensor->ref.id].pinned = true;
    }
    for (std::size_t i = 0; i < plan.forward.size(); ++i) read_forward(i, offers);
    for (const Step& step : plan.backward) {
      for (const Ref ref : step.uses)
        if (is_buffer(ref)) buffers_[ref.id].in_backward = true;
    }
  }

  /// Returns the bytes that backward needs from forward, without the pinned ones.
  std::size_t kept_bytes() const {
    std::size_t bytes = 0;
    for (std::size_t b = 0; b < buffers_.size(); ++b) bytes += needed_later(b) ? plan_.buffer_bytes[b] : 0;
    return bytes;
  }

  /// Returns the ends of segments whose values have about `bytes`: each where few bytes cross.
  std::vector<std::size_t> cuts(std::size_t bytes) const {
    std::vector<std::size_t> ends;
    std::size_t held = 0, best = kNever, fewest = kNever;
    for (std::size_t i = 0; i + 1 < plan_.forward.size(); ++i) {
      for (std::size_t b = 0; b < buffers_.size(); ++b)
        if (buffers_[b].first == i && needed_later(b)) held += plan_.buffer_bytes[b];
      const std::size_t crossing = crossing_bytes(i + 1);
      if (2 * held >= bytes && crossing < fewest) fewest = crossing, best = i + 1;
      if (held < bytes || best == kNever) continue;
      ends.push_back(best);
      i = best - 1;
      held = 0, best = fewest = kNever;
    }
    return ends;
  }

  /// Returns the plan with those segments.
  CompiledPlan with(const std::vector<std::size_t>& ends) const {
    CompiledPlan plan = plan_;
    std::size_t begin = 0;
    for (const std::size_t end : ends) compute_again(plan, std::exchange(begin, end), end);
    return plan;
  }

 private:
  void read_forward(std::size_t i, const std::vector<Step>& offers) {
    const Step& step = plan_.forward[i];
    const auto offer = std::find_if(offers.begin(), offers.end(), [&](const Step& each) {
      return each.output.ref == step.output.ref && each.info.node == step.info.node;
    });
    if (offer != offers.end()) offers_[i] = &*offer;
    const bool repeats = step.moments.count == 0 && std::ranges::none_of(step.uses, [](Ref ref) {
                           return ref.place == Ref::Place::kGradient;
                         });
    for (const Ref ref : step.uses) {
      if (!is_buffer(ref)) continue;
      BufferHistory& buffer = buffers_[ref.id];
      if (!buffer.used() || overwrites(step, ref)) {
        buffer.last_write = i;
        // An offer writes the result alone; the rest of the step's memory, such as statistics, is small.
        if (!repeats || (offers_[i] != nullptr && step.output.ref != ref)) buffer.pinned = true;
      }
      buffer.first = std::min(buffer.first, i);
      buffer.last = i;
    }
  }

  bool needed_later(std::size_t b) const {
    return buffers_[b].used() && buffers_[b].in_backward && !buffers_[b].pinned;
  }

  // The bytes that forward carries over a cut; kNever if it writes them again behind it, so that their values
  // before it would be lost.
  std::size_t crossing_bytes(std::size_t cut) const {
    std::size_t bytes = 0;
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      const BufferHistory& buffer = buffers_[b];
      if (!buffer.used() || buffer.first >= cut || buffer.last < cut) continue;
      if (buffer.last_write >= cut) return kNever;
      bytes += plan_.buffer_bytes[b];
    }
    return bytes;
  }

  bool writes(std::size_t i, const std::set<std::size_t>& wanted) const {
    const Step& step = plan_.forward[i];
    return std::ranges::any_of(step.uses, [&](Ref ref) {
      return is_buffer(ref) && wanted.contains(ref.id) &&
             (buffers_[ref.id].first == i || overwrites(step, ref));
    });
  }

  // Puts the steps of [begin, end) whose values backward needs before the first of its steps that reads one.
  void compute_again(CompiledPlan& plan, std::size_t begin, std::size_t end) const {
    const auto inside = [&](std::size_t b) {
      const BufferHistory& buffer = buffers_[b];
      return buffer.first >= begin && buffer.last < end && buffer.used() && !buffer.pinned;
    };
    std::set<std::size_t> wanted;
    for (std::size_t b = 0; b < buffers_.size(); ++b)
      if (inside(b) && buffers_[b].in_backward) wanted.insert(b);
    std::vector<Step> again;
    for (std::size_t i = end; i-- > begin;) {
      if (!writes(i, wanted)) continue;
      Step step = offers_[i] != nullptr ? *offers_[i] : plan_.forward[i];
      for (const Ref ref : step.uses) {
        if (!is_buffer(ref)) continue;
        if (inside(ref.id)) {
          wanted.insert(ref.id);
        } else if (buffers_[ref.id].last_write > i) {
          return;  // a kept value that was another one when this step read it
        }
      }
      step.info.again = true;
      if (offers_[i] == nullptr) step.info.what = "again " + step.info.what;
      again.push_back(std::move(step));
    }
    const auto reads = [&](const Step& step) {
      return std::ranges::any_of(step.uses,
                                 [&](Ref ref) { return is_buffer(ref) && wanted.contains(ref.id); });
    };
    const auto first = std::ranges::find_if(plan.backward, reads);
    plan.backward.insert(first, std::make_move_iterator(again.rbegin()),
                         std::make_move_iterator(again.rend()));
    plan.recomputed.insert(wanted.begin(), wanted.end());
  }

  const CompiledPlan& plan_;
  std::vector<const Step*> offers_;  ///< by forward step; null: none
  std::vector<BufferHistory> buffers_;
};

// Smaller plans recompute nothing. This is a few times the cache of a core; the plans of small CNNs are far
// below it.
constexpr std::size_t kWorthwhileBytes = std::size_t{64} << 20;

bool uses(const Step& step, Ref ref) {
  return std::find(step.uses.begin(), step.uses.end(), ref) != step.uses.end();
}

/// True if the memory holds only one value, which backward reads.
bool suits(const CompiledPlan& plan, Ref value) {
  const auto writes = [&](const Step& step) { return overwrites(step, value); };
  return std::count_if(plan.forward.begin(), plan.forward.end(), writes) == 1 &&
         std::any_of(plan.backward.begin(), plan.backward.end(),
                     [&](const Step& step) { return uses(step, value); });
}

}  // namespace

void checkpoint_gradients(CompiledPlan& plan, const std::vector<Step>& offers) {
  const Checkpointing checkpointing(plan, offers);
  const std::size_t whole = checkpointing.kept_bytes();
  CompiledPlan best = plan;
  std::size_t least = place_buffers(plan).bytes;
  for (const std::size_t parts : {2, 3, 4, 6, 8, 12, 16, 24, 32}) {
    CompiledPlan candidate = checkpointing.with(checkpointing.cuts(whole / parts));
    const std::size_t bytes = place_buffers(candidate).bytes;
    if (bytes < least) least = bytes, best = std::move(candidate);
  }
  plan = std::move(best);
}

void recompute(CompiledPlan& plan, std::vector<Step> offers) {
  const auto recomputed = [&](Ref ref) { return is_buffer(ref) && plan.recomputed.contains(ref.id); };
  std::erase_if(offers, [&](const Step& offer) {
    return !suits(plan, offer.output.ref) || std::ranges::any_of(offer.uses, recomputed);
  });
  std::size_t bytes = 0;
  for (const Step& offer : offers) bytes += offer.output.desc.get_size();
  if (bytes < kWorthwhileBytes) return;
  // Starts with the last offer, which may read the result of an earlier one.
  for (auto offer = offers.rbegin(); offer != offers.rend(); ++offer) {
    const Ref value = offer->output.ref;
    const auto reader = std::find_if(plan.backward.begin(), plan.backward.end(),
                                     [&](const Step& step) { return uses(step, value); });
    plan.backward.insert(reader, std::move(*offer));
    plan.recomputed.insert(value.id);
  }
}

}  // namespace convoke::nn
