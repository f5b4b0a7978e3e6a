#include "convoke/core/timeline.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <utility>

#include "convoke/os/clock.hpp"

namespace convoke {
namespace {

std::atomic<const char*> current_phase{nullptr}, current_wait{nullptr};
std::atomic<std::int64_t> current_step{-1};
std::atomic<std::uint64_t> waits_begun{0};

}  // namespace

// If the wait changes between the loads, the number belongs to the later one, so that a new wait never looks
// older than it is.
RankStatus::Reading RankStatus::read() {
  Reading reading;
  reading.phase = current_phase.load(std::memory_order_relaxed);
  reading.step = current_step.load(std::memory_order_relaxed);
  reading.waits_for = current_wait.load(std::memory_order_acquire);
  reading.waits = waits_begun.load(std::memory_order_acquire);
  return reading;
}

const char* RankStatus::enter(const char* phase) {
  const char* const before = current_phase.load(std::memory_order_relaxed);
  current_phase.store(phase, std::memory_order_relaxed);
  return before;
}

void RankStatus::begin_step(std::int64_t step) { current_step.store(step, std::memory_order_relaxed); }

ScopedWait::ScopedWait(const char* what)
    : outermost_(current_wait.load(std::memory_order_relaxed) == nullptr) {
  if (!outermost_) return;
  waits_begun.store(waits_begun.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  current_wait.store(what, std::memory_order_release);
}

ScopedWait::~ScopedWait() {
  if (outermost_) current_wait.store(nullptr, std::memory_order_release);
}

namespace {

struct ActivityFacts {
  const char* name;
  bool in_steps;
};

// By Activity.
constexpr std::array<ActivityFacts, kActivities> kFacts{{{"load", false},
                                                         {"step", true},
                                                         {"data", true},
                                                         {"exchange", true},
                                                         {"update", true},
                                                         {"evaluation", false},
                                                         {"checkpoint", false},
                                                         {"gather", false},
                                                         {"features", false},
                                                         {"forward", true},
                                                         {"loss", true},
                                                         {"backward", true},
                                                         {"sum", true},
                                                         {"wait for workers", true},
                                                         {"flight", true},
                                                         {"wait", true},
                                                         {"writing", false}}};

constexpr const char* kMain = "main";
constexpr std::size_t kRareEvents = 1024;
constexpr std::int64_t kStepsPerCpuSample = 16;

}  // namespace

const char* name_of(Activity activity) { return kFacts[static_cast<std::size_t>(activity)].name; }
bool in_steps(Activity activity) { return kFacts[static_cast<std::size_t>(activity)].in_steps; }

const char* lasting_text(std::string_view text) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> texts;
  const std::lock_guard lock(mutex);
  const auto it = texts.find(text);
  return (it != texts.end() ? it : texts.emplace(text).first)->c_str();
}

Track::Track(Timeline& timeline, std::string name, std::size_t events)
    : timeline_(&timeline),
      name_(std::move(name)),
      of_rank_(name_ == kMain),
      steps_(events),
      rare_(events > 0 ? kRareEvents : 0) {}

double Track::core_share() const {
  return sampled_seconds_ > 0 ? std::clamp(sampled_cpu_seconds_ / sampled_seconds_, 0.0, 1.0) : 1;
}

void Track::record(const Event& event) {
  nanoseconds_[index(event.activity)] += event.end - event.begin;
  keep(event);
}

void Track::keep(const Event& event) {
  if (records()) (in_steps(event.activity) ? steps_ : rare_).add(event);
}

Track*& Track::mine() {
  thread_local Track* track = nullptr;
  return track;
}

Timeline::Timeline(std::size_t events) : events_(events) { track(kMain); }

Track& Timeline::track(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (const auto& track : tracks_) {
    if (track->name() == name) return *track;
  }
  return *tracks_.emplace_back(std::make_unique<Track>(*this, name, events_));
}

Timeline* Timeline::current() { return Track::mine() == nullptr ? nullptr : &Track::mine()->timeline(); }

Timeline::Use::Use(Timeline* timeline, const std::string& name) : before_(Track::mine()) {
  Track::mine() = timeline == nullptr ? nullptr : &timeline->track(name);
}

Span::Span(Activity activity, const char* label, std::int64_t number) : track_(Track::mine()) {
  if (track_ == nullptr) return;
  if (!is_phase(activity) && !track_->records()) {
    track_ = nullptr;
    return;
  }
  event_.activity = activity;
  if (nests()) outer_ = std::exchange(track_->phase_, this);
  if (track_->of_rank_ && is_phase(activity)) {
    outer_phase_ = RankStatus::enter(name_of(activity));
    if (activity == Activity::kStep) RankStatus::begin_step(number);
  }
  const bool exchanges = activity == Activity::kExchange;
  const bool within_exchange = outer_ != nullptr && outer_->event_.activity == Activity::kExchange;
  if (activity == Activity::kStep) track_->samples_cpu_ = number % kStepsPerCpuSample == 0;
  if (track_->samples_cpu_ && (activity == Activity::kStep || (exchanges && !within_exchange))) {
    cpu_seconds_ = os::thread_cpu_seconds();
  }
  event_ = {clock_now(), 0, label, static_cast<std::int32_t>(number), activity};
}

double Span::close() {
  if (track_ == nullptr) return 0;
  event_.end = clock_now();
  Track& track = *std::exchange(track_, nullptr);
  const double seconds = 1e-9 * static_cast<double>(event_.end - event_.begin);
  if (track.of_rank_ && is_phase(event_.activity)) RankStatus::enter(outer_phase_);
  track.nanoseconds_[Track::index(event_.activity)] += event_.end - event_.begin - inner_;
  if (nests()) {
    track.phase_ = outer_;
    if (outer_ != nullptr) outer_->inner_ += event_.end - event_.begin;
  }
  if (cpu_seconds_ >= 0) {
    const double sign = event_.activity == Activity::kExchange ? -1 : 1;
    track.sampled_seconds_ += sign * seconds;
    track.sampled_cpu_seconds_ += sign * (os::thread_cpu_seconds() - cpu_seconds_);
  }
  track.keep(event_);
  return seconds;
}

void Flights::start(std::size_t number) {
  const Track* const track = Track::mine();
  if (track == nullptr || !track->records()) return;
  if (begin_.size() <= number) begin_.resize(number + 1, 0);
  begin_[number] = clock_now();
}

void Flights::end(std::size_t number) {
  if (begin_.size() <= number || begin_[number] == 0) return;
  if (Track* const track = Track::mine(); track != nullptr) {
    track->record({std::exchange(begin_[number], 0), clock_now(), nullptr, static_cast<std::int32_t>(number),
                   Activity::kFlight});
  }
}

}  // namespace convoke
