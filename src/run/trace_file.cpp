#include "convoke/run/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::run {
namespace {

constexpr std::size_t kEventsOfThread = std::size_t{1} << 15, kEventsOfAll = 2'000'000;
constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr int kFirstFlightRow = 1000;  // threads have smaller numbers

using Emit = std::function<void(const std::string&)>;

// Formats the events of one rank.
class RankEvents {
 public:
  RankEvents(const mpi::RootClock& clock, Nanoseconds zero, int rank, Emit emit)
      : clock_(clock), zero_(zero), rank_(rank), emit_(std::move(emit)) {}

  void finish() {
    if (!text_.empty()) emit_(text_);
  }

  // `what`: "process_name" or "thread_name".
  void name_row(const char* what, int thread, const std::string& text) {
    begin_line(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{})", rank_, thread, what,
               metrics::to_json(Settings{{"name", text}}));
    end_line();
  }

  void add(const Event& event, int thread) {
    const Nanoseconds begin = clock_.at_root(event.begin) - zero_;
    const Nanoseconds length = clock_.at_root(event.end) - zero_ - begin;
    begin_line(R"({{"ph":"X","pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03},{})", rank_, thread, begin / 1000,
               begin % 1000, length / 1000, length % 1000, title_of(event));
    if (event.number >= 0) {
      text_ += fmt::format(R"(,"args":{{"{}":{}}})", event.activity == Activity::kStep ? "step" : "bucket",
                           event.number);
    }
    end_line();
  }

 private:
  // Returns `"name":"conv2d_2 forward","cat":"forward"`.
  const std::string& title_of(const Event& event) {
    const std::pair key(event.label, event.activity);
    auto it = titles_.find(key);
    if (it == titles_.end()) {
      const char* const category = name_of(event.activity);
      const std::string object =
          metrics::to_json(Settings{{"name", std::string(event.label == nullptr ? category : event.label)},
                                    {"cat", std::string(category)}});
      it = titles_.emplace(key, object.substr(1, object.size() - 2)).first;
    }
    return it->second;
  }

  template <class... Values>
  void begin_line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  void end_line() {
    text_ += "}";
    if (text_.size() < kPiece) return;
    emit_(text_);
    text_.clear();
  }

  const mpi::RootClock& clock_;
  Nanoseconds zero_;
  int rank_;
  Emit emit_;
  std::string text_;
  std::map<std::pair<const char*, Activity>, std::string> titles_;
};

// Events by their begin, those that contain others first.
std::vector<Event> events_of(const Track& track) {
  std::vector<Event> events;
  for (const EventRing* ring : {&track.rare(), &track.steps()}) {
    for (std::size_t i = 0; i < ring->size(); ++i) events.push_back((*ring)[i]);
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::pair(a.begin, -a.end) < std::pair(b.begin, -b.end);
  });
  return events;
}

// Events of one row must not overlap partly: a flight goes to the first row that is free.
// `ends`: of the last flight in each row.
int row_of(const Event& flight, std::vector<Nanoseconds>& ends) {
  const auto free =
      std::find_if(ends.begin(), ends.end(), [&](Nanoseconds end) { return end <= flight.begin; });
  const auto row = free - ends.begin();
  if (free == ends.end()) ends.push_back(0);
  ends[static_cast<std::size_t>(row)] = flight.end;
  return kFirstFlightRow + static_cast<int>(row);
}

void format_rank(const Timeline& timeline, int rank, RankEvents& out) {
  out.name_row("process_name", 0, fmt::format("rank {} on {}", rank, os::host_name()));
  std::vector<Nanoseconds> flights;
  for (std::size_t thread = 0; thread < timeline.tracks().size(); ++thread) {
    const Track& track = *timeline.tracks()[thread];
    out.name_row("thread_name", static_cast<int>(thread), track.name());
    for (const Event& event : events_of(track)) {
      out.add(event, event.activity == Activity::kFlight ? row_of(event, flights) : static_cast<int>(thread));
    }
  }
  for (int row = 0; row < std::ssize(flights); ++row) {
    out.name_row("thread_name", kFirstFlightRow + row, fmt::format("buckets in flight {}", row + 1));
  }
}

// Returns the time of the first event of all ranks, by rank 0's clock.
Nanoseconds first_event(const Timeline& timeline, const mpi::RootClock& clock,
                        const mpi::Communicator& world) {
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  for (const auto& track : timeline.tracks()) {
    for (const EventRing* ring : {&track->rare(), &track->steps()}) {
      for (std::size_t i = 0; i < ring->size(); ++i) first = std::min(first, (*ring)[i].begin);
    }
  }
  const Nanoseconds at_root =
      clock.at_root(first == std::numeric_limits<Nanoseconds>::max() ? clock_now() : first);
  return std::ranges::min(mpi::all_gather(world, at_root));
}

std::int64_t dropped_events(const Timeline& timeline, const mpi::Communicator& world) {
  std::int64_t dropped = 0;
  for (const auto& track : timeline.tracks())
    dropped += static_cast<std::int64_t>(track->steps().dropped() + track->rare().dropped());
  return mpi::sum_of(world, dropped);
}

void send(const std::string& text, const mpi::Communicator& world) {
  const std::uint64_t size = text.size();
  world.send(std::as_bytes(std::span(&size, 1)), 0, mpi::Tag::kTrace);
  if (size > 0) world.send(std::as_bytes(std::span(text)), 0, mpi::Tag::kTrace);
}

// Receives pieces until an empty one.
void receive(int rank, const mpi::Communicator& world, const Emit& emit) {
  std::string text;
  do {
    std::uint64_t size = 0;
    world.receive(std::as_writable_bytes(std::span(&size, 1)), rank, mpi::Tag::kTrace);
    text.resize(size);
    if (size > 0) world.receive(std::as_writable_bytes(std::span(text)), rank, mpi::Tag::kTrace);
    emit(text);
  } while (!text.empty());
}

}  // namespace

std::size_t trace_events(int all_threads) {
  return std::clamp<std::size_t>(kEventsOfAll / static_cast<std::size_t>(std::max(1, all_threads)), 1024,
                                 kEventsOfThread);
}

void write_trace(const std::filesystem::path& file, const Timeline& timeline, const mpi::ClockReading& begin,
                 const mpi::Communicator& world) {
  const mpi::RootClock clock(begin, mpi::read_root_clock(world));
  const Nanoseconds zero = first_event(timeline, clock, world);
  const std::int64_t dropped = dropped_events(timeline, world);
  // Rank 0 receives everything even if it cannot write, because the other ranks send.
  std::optional<os::AtomicFile> target;
  std::ofstream out;
  std::optional<Error> failure;
  if (world.root()) {
    try {
      target.emplace(file);
      out.open(target->temporary());
    } catch (const Error& error) {
      failure = error;
    }
    out << fmt::format(
        R"({{"displayTimeUnit":"ms","otherData":{{"ranks":{},"dropped_events":{}}},"traceEvents":[)",
        world.size(), dropped);
    for (int rank = 0; rank < world.size(); ++rank) {
      out << (rank == 0 ? "\n" : ",\n")
          << fmt::format(
                 R"({{"ph":"M","pid":{0},"tid":0,"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
                 rank);
    }
  }
  const Emit emit = [&](const std::string& text) { world.root() ? void(out << text) : send(text, world); };
  for (int rank = 0; rank < world.size(); ++rank) {
    if (world.rank() == rank) {
      RankEvents events(clock, zero, rank, emit);
      format_rank(timeline, rank, events);
      events.finish();
    }
    if (rank > 0 && world.rank() == rank) emit({});
    if (rank > 0 && world.root()) receive(rank, world, emit);
  }
  mpi::on_root(world, [&] {
    if (failure) throw *failure;
    out << "\n]}\n";
    out.close();
    if (!out) {
      throw Error(fmt::format("{}: the trace cannot be written", file.string()),
                  "free some disk space, or run without a trace");
    }
    target->commit(os::Durability::kUnsynced);
  });
}

}  // namespace convoke::run
