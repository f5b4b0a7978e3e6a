#pragma once
#include <csetjmp>

#include <functional>

namespace simulation {

/// A function with a stack of its own, which can pause. A change of stacks makes no call of the system,
/// unlike swapcontext().
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
  void begin();
  static void enter(unsigned high, unsigned low);
  std::function<void()> body_;
  void* stack_;
  bool begun_ = false;
  std::jmp_buf inside_{}, outside_{};
};

}  // namespace simulation
