#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace convoke {

/// Tells a thread that watches what the main thread of this process does. The main thread trains and makes
/// the calls of MPI. It only stores some words, so a step does not become slower.
class RankStatus {
 public:
  struct Reading {
    const char* phase = nullptr;      ///< "evaluation": the innermost phase of a Timeline; null: none
    std::int64_t step = -1;           ///< the newest that has begun, counted from 0; -1: none
    const char* waits_for = nullptr;  ///< "a barrier", see ScopedWait; null: the thread works
    std::uint64_t waits = 0;          ///< number of waits so far: equal in two readings within one wait
  };
  /// Any thread may call it.
  static Reading read();

  /// Enters a phase, and returns the one that it is within, to enter again afterwards. For Span.
  static const char* enter(const char* phase);
  static void begin_step(std::int64_t step);
};

/// A scope in which the main thread waits for other ranks and can do nothing else. Within another such scope
/// it has no effect.
class ScopedWait {
 public:
  /// `what`: for people, as in "waits for a barrier"; must exist as long as the process.
  explicit ScopedWait(const char* what);
  ~ScopedWait();
  ScopedWait(const ScopedWait&) = delete;
  ScopedWait& operator=(const ScopedWait&) = delete;

 private:
  bool outermost_;
};

/// What a thread does for a while. The phases of a run are always timed: they are what its summary reports.
/// The others are details, which are timed only if events are recorded.
enum class Activity : std::uint8_t {
  kLoad,        ///< opening datasets, compiling plans
  kStep,        ///< a training step; the next three are parts of it
  kData,        ///< assembling samples: converting, normalizing, augmenting
  kExchange,    ///< exposed communication: waiting for the sums over the ranks
  kUpdate,      ///< the optimizer
  kEvaluation,  ///< validation and test
  kCheckpoint,  ///< training paused for a checkpoint
  kGather,      ///< sending members to rank 0, writing the model file
  kFeatures,    ///< computing cached features
  kForward,     ///< a forward pass, or a primitive of it
  kLoss,
  kBackward,  ///< a backward pass, or a primitive of it
  kSum,       ///< adding the gradients of the worker threads of one rank
  kJoin,      ///< waiting for the other worker threads of this rank
  kFlight,    ///< a bucket of gradients between its first and its last message, while the thread does more
  kWait,      ///< waiting for such a bucket; a part of kExchange
  kWriting,   ///< writing a file in the background
};
constexpr std::size_t kActivities = 17;
constexpr Activity kLastPhase = Activity::kFeatures;

/// Returns "exchange" for kExchange.
const char* name_of(Activity activity);
constexpr bool is_phase(Activity activity) { return activity <= kLastPhase; }
/// True for what a step is made of. The others are rare, so their events are kept apart.
bool in_steps(Activity activity);

/// Nanoseconds of this host's monotonic clock.
using Nanoseconds = std::int64_t;
inline Nanoseconds clock_now() {
  using std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

/// Returns a copy of `text` that lives as long as the process, the same for equal texts. For labels of
/// events, which outlive what they name. Slow: call it once per label.
const char* lasting_text(std::string_view text);

/// One activity of one thread, from `begin` to `end`.
struct Event {
  Nanoseconds begin = 0, end = 0;
  const char* label = nullptr;  ///< "conv2d_2 forward", lasting; null: the name of the activity
  std::int32_t number = -1;     ///< of the step or the bucket; -1: none
  Activity activity = Activity::kStep;
};

/// The newest events, up to a number that is fixed when it is made.
class EventRing {
 public:
  explicit EventRing(std::size_t capacity) : events_(capacity) {}
  void add(const Event& event) { events_[count_++ % events_.size()] = event; }
  std::size_t capacity() const { return events_.size(); }
  std::size_t dropped() const { return count_ - size(); }
  std::size_t size() const { return count_ < events_.size() ? count_ : events_.size(); }
  /// The i-th of the events that are kept, from the oldest.
  const Event& operator[](std::size_t i) const { return events_[(dropped() + i) % events_.size()]; }

 private:
  std::vector<Event> events_;
  std::size_t count_ = 0;
};

class Span;
class Timeline;

/// What one thread did: the seconds of each phase and, if wanted, the newest events. Only one thread at a
/// time may use it.
class Track {
 public:
  Track(Timeline& timeline, std::string name, std::size_t events);

  /// Adds an event, which need not be a scope, and its time to the seconds of its activity.
  void record(const Event& event);
  /// True if details are wanted.
  bool records() const { return steps_.capacity() > 0; }
  double seconds(Activity activity) const {
    return 1e-9 * static_cast<double>(nanoseconds_[index(activity)]);
  }

  /// Returns the share of the steps without their exchanges in which the thread had a core: its CPU time over
  /// the time, in every 16th step, because the kernel needs a microsecond to tell. 1 without steps.
  double core_share() const;

  Timeline& timeline() const { return *timeline_; }
  const std::string& name() const { return name_; }
  const EventRing& steps() const { return steps_; }  ///< of activities within steps
  const EventRing& rare() const { return rare_; }    ///< of all others

  /// The track of the calling thread; null: nobody wants to know what it does.
  static Track*& mine();

 private:
  friend class Span;
  void keep(const Event& event);
  static constexpr std::size_t index(Activity activity) { return static_cast<std::size_t>(activity); }

  Timeline* timeline_;
  std::string name_;
  bool of_rank_;  ///< its phases are those of the rank
  std::array<Nanoseconds, kActivities> nanoseconds_{};
  Span* phase_ = nullptr;     ///< the innermost open one of a phase, except kStep
  bool samples_cpu_ = false;  ///< in this step
  double sampled_seconds_ = 0, sampled_cpu_seconds_ = 0;
  EventRing steps_, rare_;
};

/// What the threads of a rank did, in one track per thread that has one. The thread that makes it has the
/// track "main", and its phases are those of the rank, which RankStatus tells other threads.
class Timeline {
 public:
  /// Keeps the newest `events` within steps of each thread, and 1,024 others, 32 bytes each; 0: none.
  explicit Timeline(std::size_t events = 0);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Returns the track of that name, made at first use. Any thread may call it.
  Track& track(const std::string& name);
  Track& main() { return *tracks_.front(); }
  double seconds(Activity phase) const { return tracks_.front()->seconds(phase); }
  /// All tracks, "main" first. Call it when no other thread uses them.
  const std::vector<std::unique_ptr<Track>>& tracks() const { return tracks_; }

  /// The timeline of the calling thread's track, or null. Threads that it starts get tracks of it.
  static Timeline* current();

  /// Gives the calling thread a track of `timeline` (null: none) until the end of the scope.
  class Use {
   public:
    explicit Use(Timeline& timeline) : Use(timeline.main()) {}
    explicit Use(Track& track) : before_(Track::mine()) { Track::mine() = &track; }
    Use(Timeline* timeline, const std::string& name);
    ~Use() { Track::mine() = before_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Track* before_;
  };

 private:
  std::size_t events_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Track>> tracks_;
};

/// Times a scope of the calling thread: adds it to the seconds of its phase, and records an event if events
/// are wanted. Costs nothing in a thread without a track. Its phase gets the time outside of spans of other
/// phases within it, so the seconds of phases add up; only kStep has all of its time.
class Span {
 public:
  explicit Span(Activity activity, const char* label = nullptr, std::int64_t number = -1);
  ~Span() { close(); }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  /// Ends the span before the scope does. Returns its seconds, or 0 if it was not timed.
  double close();

 private:
  bool nests() const { return is_phase(event_.activity) && event_.activity != Activity::kStep; }

  Track* track_;
  Event event_;
  Span* outer_ = nullptr;              ///< of a phase, except kStep
  const char* outer_phase_ = nullptr;  ///< see RankStatus::enter
  Nanoseconds inner_ = 0;              ///< time of the spans of phases within this one
  double cpu_seconds_ = -1;            ///< of the thread, when the span began; < 0: not wanted
};

/// Things that are under way while the thread does something else, by number: buckets of gradients. Their
/// times may overlap.
class Flights {
 public:
  void start(std::size_t number);
  void end(std::size_t number);

 private:
  std::vector<Nanoseconds> begin_;  ///< 0: not recorded
};

}  // namespace convoke
