#pragma once
#include <ucontext.h>

#include <functional>

namespace simulation {

/// A function with a stack of its own, which can pause.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs until the body pauses or ends.
  void resume();
  /// Called in the body.
  void pause();

 private:
  static void enter(unsigned high, unsigned low);
  std::function<void()> body_;
  void* stack_;
  ucontext_t inside_{}, outside_{};
};

}  // namespace simulation
