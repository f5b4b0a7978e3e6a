#include "fiber.hpp"

#include <ucontext.h>

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
}

Fiber::~Fiber() { free_stacks().push_back(stack_); }

void Fiber::enter(unsigned high, unsigned low) {
  Fiber* const self = reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(high) << 32 | low);
  self->body_();
  std::longjmp(self->outside_, 1);
}

void Fiber::begin() {
  ucontext_t context{};
  getcontext(&context);
  context.uc_stack.ss_sp = stack_;
  context.uc_stack.ss_size = kStackBytes;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&context, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self & 0xFFFFFFFFU));
  setcontext(&context);
}

void Fiber::resume() {
  if (setjmp(outside_) != 0) return;
  if (begun_) std::longjmp(inside_, 1);
  begun_ = true;
  begin();
}
void Fiber::pause() {
  if (setjmp(inside_) == 0) std::longjmp(outside_, 1);
}

}  // namespace simulation
