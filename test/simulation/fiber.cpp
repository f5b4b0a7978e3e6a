#include "fiber.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace simulation {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;

// Stacks are used again, because the system clears new memory.
std::vector<void*>& free_stacks() {
  static std::vector<void*> stacks;
  return stacks;
}

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
  if (free_stacks().empty()) {
    stack_ = ::operator new(kStackBytes);
  } else {
    stack_ = free_stacks().back();
    free_stacks().pop_back();
  }
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_;
  inside_.uc_stack.ss_size = kStackBytes;
  inside_.uc_link = &outside_;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self & 0xFFFFFFFFU));
}

Fiber::~Fiber() { free_stacks().push_back(stack_); }

void Fiber::enter(unsigned high, unsigned low) {
  reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(high) << 32 | low)->body_();
}

void Fiber::resume() { swapcontext(&outside_, &inside_); }
void Fiber::pause() { swapcontext(&inside_, &outside_); }

}  // namespace simulation
