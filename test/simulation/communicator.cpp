// The functions of mpi::Communicator over a simulated world, in place of src/mpi. What MPI leaves open is
// drawn: whether a send waits for its receiver, which of several senders a receiver sees first, and when each
// rank leaves a collective. What MPI forbids throws Broken: ranks of a group in different collectives,
// messages of other sizes.
#include "convoke/mpi/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "convoke/mpi/shared_memory.hpp"
#include "world.hpp"

namespace convoke::mpi {

using simulation::Broken;
using simulation::World;

struct Communicator::State {
  std::shared_ptr<World::Group> group;
  int rank = 0;
};

namespace {

World& world() { return *World::current(); }

std::vector<std::byte> copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// Adds this rank's part to the next collective of its group.
std::shared_ptr<World::Collective> join(World::Group& group, int rank, const std::string& what,
                                        std::span<const std::byte> part) {
  const std::size_t number = group.joined[static_cast<std::size_t>(rank)]++;
  if (number == group.collectives.size()) {
    group.collectives.push_back(std::make_shared<World::Collective>());
    group.collectives.back()->what = what;
  }
  const std::shared_ptr<World::Collective> it = group.collectives[number];
  if (it->what != what)
    throw Broken(fmt::format("ranks of a group are in \"{}\" and \"{}\"", it->what, what));
  if (!world().loses()) it->parts.emplace(rank, copy(part));
  if (it->parts.size() == group.ranks.size()) {
    for (int i = 0; i < std::ssize(group.ranks); ++i) it->ready[i] = world().later(world().delay());
  }
  return it;
}

bool over(const World::Collective& it, int rank) {
  const auto ready = it.ready.find(rank);
  return ready != it.ready.end() && ready->second <= world().now();
}

/// Runs a collective in which every rank gets what `take` makes of all parts.
template <class Take>
void all_in(World::Group& group, int rank, const char* what, std::size_t size,
            std::span<const std::byte> part, const Take& take) {
  const auto it = join(group, rank, fmt::format("{} of {}", what, size), part);
  world().wait(what, [&] { return over(*it, rank); });
  take(*it);
}

/// Combines the values of all ranks, in their order.
template <class T, class Combine>
void combine(const World::Collective& it, std::span<T> values, const Combine& combine) {
  for (auto part = it.parts.begin(); part != it.parts.end(); ++part) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      T value;
      std::memcpy(&value, part->second.data() + i * sizeof(T), sizeof value);
      values[i] = part == it.parts.begin() ? value : combine(values[i], value);
    }
  }
}

constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kMost = [](auto a, auto b) { return std::max(a, b); };
constexpr auto kLeast = [](auto a, auto b) { return std::min(a, b); };

std::int64_t& id_of(unsigned char* handle) { return *reinterpret_cast<std::int64_t*>(handle); }

}  // namespace

Request::Request() { id_of(handle_) = 0; }
Request::Request(Request&& other) noexcept { id_of(handle_) = std::exchange(id_of(other.handle_), 0); }
Request& Request::operator=(Request&& other) noexcept {
  id_of(handle_) = std::exchange(id_of(other.handle_), 0);
  return *this;
}
Request::~Request() = default;

bool Request::test() {
  if (id_of(handle_) == 0) return true;
  world().sleep(1e-6);  // other ranks run meanwhile
  const auto it = world().requests.find(id_of(handle_));
  if (!it->second()) return false;
  world().requests.erase(it);
  world().moves();
  id_of(handle_) = 0;
  return true;
}

void Request::wait() {
  if (id_of(handle_) == 0) return;
  const auto it = world().requests.find(id_of(handle_));
  world().wait("a request", it->second);
  world().requests.erase(it);
  id_of(handle_) = 0;
}

template <class Begin>
Request Communicator::start_one(Begin begin) {
  Request request;
  id_of(request.handle_) = ++world().made;
  world().requests.emplace(world().made, begin());
  return request;
}

Communicator Communicator::wrap(int) {
  return Communicator(std::make_shared<State>(State{world().all(), world().rank()}));
}
int Communicator::rank() const { return state_->rank; }
int Communicator::size() const { return static_cast<int>(state_->group->ranks.size()); }

// Keys are ranks here, so the order of the parts is that of the ranks.
Communicator Communicator::split(int color, int) const {
  World::Group& group = *state_->group;
  const std::size_t number = group.joined[static_cast<std::size_t>(rank())];
  Communicator part(nullptr);
  all_in(group, rank(), "split", 1, std::as_bytes(std::span(&color, 1)), [&](const World::Collective& it) {
    std::shared_ptr<World::Group>& made = group.parts[{number, color}];
    const bool first = made == nullptr;
    if (first) made = std::make_shared<World::Group>();
    int place = 0;
    for (const auto& [member, bytes] : it.parts) {
      int other = 0;
      std::memcpy(&other, bytes.data(), sizeof other);
      if (other != color) continue;
      if (member < rank()) ++place;
      if (first) made->ranks.push_back(group.ranks[static_cast<std::size_t>(member)]);
    }
    if (first) made->joined.resize(made->ranks.size());
    part = Communicator(std::make_shared<State>(State{made, place}));
  });
  return part;
}

void Communicator::free_abandoned() {}

void Communicator::barrier() const {
  all_in(*state_->group, rank(), "barrier", 0, {}, [](const auto&) {});
}
Request Communicator::start_barrier() const {
  return start_one([&] {
    const auto it = join(*state_->group, rank(), "start_barrier", {});
    return [it, self = rank()] { return over(*it, self); };
  });
}

void Communicator::sum(std::span<double> values) const {
  all_in(*state_->group, rank(), "sum of doubles", values.size(), std::as_bytes(values),
         [&](const auto& it) { combine(it, values, kAdd); });
}
void Communicator::sum(std::span<std::int64_t> values) const {
  all_in(*state_->group, rank(), "sum of integers", values.size(), std::as_bytes(values),
         [&](const auto& it) { combine(it, values, kAdd); });
}
void Communicator::max(std::span<double> values) const {
  all_in(*state_->group, rank(), "maximum", values.size(), std::as_bytes(values),
         [&](const auto& it) { combine(it, values, kMost); });
}
void Communicator::min(std::span<double> values) const {
  all_in(*state_->group, rank(), "minimum", values.size(), std::as_bytes(values),
         [&](const auto& it) { combine(it, values, kLeast); });
}

template <class T>
Request Communicator::start_sum_of(std::span<T> values) const {
  return start_one([&] {
    const auto it =
        join(*state_->group, rank(), fmt::format("start_sum of {}", values.size()), std::as_bytes(values));
    return [it, values, self = rank()] {
      if (!over(*it, self)) return false;
      combine(*it, values, kAdd);
      return true;
    };
  });
}
Request Communicator::start_sum(std::span<float> values) const { return start_sum_of(values); }
Request Communicator::start_sum(std::span<std::int64_t> values) const { return start_sum_of(values); }

Request Communicator::start_all_to_all(std::span<const std::byte> blocks,
                                       std::span<std::byte> received) const {
  return start_one([&] {
    const auto it = join(*state_->group, rank(), fmt::format("all_to_all of {}", blocks.size()), blocks);
    return [it, received, self = rank(), each = blocks.size() / static_cast<std::size_t>(size())] {
      if (!over(*it, self)) return false;
      for (const auto& [from, bytes] : it->parts) {
        std::memcpy(received.data() + each * static_cast<std::size_t>(from),
                    bytes.data() + each * static_cast<std::size_t>(self), each);
      }
      return true;
    };
  });
}
Request Communicator::start_all_gather(std::span<std::byte> blocks) const {
  return start_one([&] {
    const std::size_t each = blocks.size() / static_cast<std::size_t>(size());
    const auto it = join(*state_->group, rank(), fmt::format("all_gather of {}", blocks.size()),
                         blocks.subspan(each * static_cast<std::size_t>(rank()), each));
    return [it, blocks, each, self = rank()] {
      if (!over(*it, self)) return false;
      for (const auto& [from, bytes] : it->parts)
        std::memcpy(blocks.data() + each * static_cast<std::size_t>(from), bytes.data(), each);
      return true;
    };
  });
}

// The root need not wait for the others; the library decides.
void Communicator::broadcast(std::span<std::byte> bytes, int root) const {
  const auto it =
      join(*state_->group, rank(), fmt::format("broadcast of {} from {}", bytes.size(), root), bytes);
  if (rank() == root && world().below(2) == 0) return;
  const double soonest = world().later(world().delay());
  world().wait("broadcast", [&] { return it->parts.contains(root) && world().now() >= soonest; });
  std::memcpy(bytes.data(), it->parts.at(root).data(), bytes.size());
}

std::string Communicator::broadcast(std::string text, int root) const {
  std::uint64_t size = text.size();
  broadcast(std::as_writable_bytes(std::span(&size, 1)), root);
  text.resize(size);
  broadcast(std::as_writable_bytes(std::span(text)), root);
  return text;
}

std::vector<std::string> Communicator::gather(const std::string& text, int root) const {
  std::vector<std::string> texts;
  all_in(*state_->group, rank(), "gathering at", static_cast<std::size_t>(root),
         std::as_bytes(std::span(text)), [&](const World::Collective& it) {
           if (rank() != root) return;
           for (const auto& [from, bytes] : it.parts)
             texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
         });
  return texts;
}

namespace {

using Queue = std::vector<std::shared_ptr<World::Message>>;

/// The oldest message that was not received; null if there is none, or it has not arrived.
World::Message* front(const Queue& queue) {
  const auto it = std::ranges::find_if(queue, [](const auto& message) { return !message->received; });
  return it == queue.end() || (*it)->arrives > world().now() ? nullptr : it->get();
}

std::shared_ptr<World::Message> post(World::Group& group, int from, int to, Tag tag,
                                     std::span<const std::byte> bytes) {
  auto message = std::make_shared<World::Message>();
  message->bytes = copy(bytes);
  ++world().sent[tag];
  const std::tuple key{from, to, static_cast<int>(tag)};
  message->number = group.sends[key]++;
  if (world().loses()) return message;
  Queue& queue = group.messages[key];
  message->arrives = world().later(world().delay());
  if (!queue.empty())
    message->arrives = std::max(message->arrives, queue.back()->arrives);  // MPI keeps the order
  queue.push_back(message);
  ++world().on_the_way;
  return message;
}

}  // namespace

void Communicator::send(std::span<const std::byte> bytes, int to, Tag tag) const {
  const auto message = post(*state_->group, rank(), to, tag, bytes);
  if (world().below(2) == 0) return world().sleep(1e-6);
  world().wait("the receiver of a message", [&] { return message->received; });
}

// A receive that was started ends the send, whatever the receiver does: MPI makes progress on all requests.
Request Communicator::start_send(std::span<const std::byte> bytes, int to, Tag tag) const {
  return start_one([&] {
    const auto message = post(*state_->group, rank(), to, tag, bytes);
    const std::size_t& receives = state_->group->receives[{rank(), to, static_cast<int>(tag)}];
    return [message, &receives, buffered = world().below(2) == 0] {
      return buffered || message->received ||
             (receives > message->number && message->arrives <= world().now());
    };
  });
}

// Receives get the messages in the order in which they were started.
Request Communicator::start_receive(std::span<std::byte> bytes, int from, Tag tag) const {
  return start_one([&] {
    const std::tuple key{from, rank(), static_cast<int>(tag)};
    const Queue& queue = state_->group->messages[key];
    return [&queue, bytes, number = state_->group->receives[key]++] {
      const auto it =
          std::ranges::lower_bound(queue, number, {}, [](const auto& sent) { return sent->number; });
      if (it == queue.end() || (*it)->number != number || (*it)->arrives > world().now()) return false;
      if (std::exchange((*it)->received, true)) return true;
      if ((*it)->bytes.size() > bytes.size()) throw Broken("a message is longer than its receiver expects");
      std::ranges::copy((*it)->bytes, bytes.begin());
      --world().on_the_way;
      return true;
    };
  });
}

void Communicator::receive(std::span<std::byte> bytes, int from, Tag tag) const {
  const Queue& queue = state_->group->messages[{from, rank(), static_cast<int>(tag)}];
  world().wait("a message", [&] { return front(queue) != nullptr; });
  World::Message& message = *front(queue);
  if (message.bytes.size() != bytes.size())
    throw Broken("a message has another size than its receiver expects");
  std::memcpy(bytes.data(), message.bytes.data(), bytes.size());
  message.received = true;
  --world().on_the_way;
}

std::optional<int> Communicator::sender_of(Tag tag) const {
  world().sleep(1e-6);
  std::vector<int> senders;
  for (const auto& [key, queue] : state_->group->messages) {
    const auto& [from, to, number] = key;
    if (to == rank() && number == static_cast<int>(tag) && front(queue) != nullptr) senders.push_back(from);
  }
  if (senders.empty()) return std::nullopt;
  world().moves();
  return senders[world().below(senders.size())];
}

// The memory that ranks of a simulated node share: a block of this process. It lives as long as the world,
// because ranks that are killed leave it in any order.
struct SharedMemory::State {
  Communicator node;
  std::span<std::byte> bytes;
};

SharedMemory::SharedMemory(const Communicator& node, std::size_t bytes) {
  struct alignas(64) Line {
    std::byte bytes[64] = {};
  };
  std::byte* first = nullptr;
  if (node.root()) {
    const auto block = std::make_shared<std::vector<Line>>(bytes / sizeof(Line) + 1);
    simulation::World::current()->memory.push_back(block);
    first = block->front().bytes;
  }
  node.broadcast(std::as_writable_bytes(std::span(&first, 1)));
  state_ = std::make_unique<State>(State{node, {first, bytes}});
}
SharedMemory::SharedMemory(SharedMemory&&) noexcept = default;
SharedMemory& SharedMemory::operator=(SharedMemory&&) noexcept = default;
SharedMemory::~SharedMemory() = default;

std::span<std::byte> SharedMemory::bytes() const { return state_->bytes; }
bool SharedMemory::owner() const { return state_->node.root(); }
void SharedMemory::publish() const { state_->node.barrier(); }

}  // namespace convoke::mpi
