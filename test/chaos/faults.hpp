#pragma once
#include <dlfcn.h>

#include <atomic>

/// A function that can fail (faults.cpp).
namespace faults {

enum Kind { kOpen, kRead, kWrite, kSync, kRename, kLink, kMap, kThread, kMemory, kHdf5, kOneDnn, kMpi };

/// Counts a call of `symbol` from `caller`. Returns true if it must fail, with errno set.
bool fails(Kind kind, const char* symbol, void* caller);

/// The next definition of a function, looked up at its first call.
class Next {
 public:
  explicit constexpr Next(const char* symbol) : symbol_(symbol) {}
  void* get() {
    void* found = address_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = dlsym(RTLD_NEXT, symbol_);
      address_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

 private:
  const char* symbol_;
  std::atomic<void*> address_{nullptr};
};

// The functions take at most ten arguments, numbers and addresses, which lie where those of ten longs do.
using Ten = long (*)(long, long, long, long, long, long, long, long, long, long);

}  // namespace faults

/// Defines the function `symbol`, which returns `failure` if the condition holds.
#define FAULTY_IF(condition, symbol, failure)                                                              \
  extern "C" [[gnu::visibility("default")]] long faulty_##symbol(long, long, long, long, long, long, long, \
                                                                 long, long, long) __asm__(#symbol);       \
  long faulty_##symbol(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {   \
    static constinit faults::Next next(#symbol);                                                           \
    if (condition) return failure;                                                                         \
    return reinterpret_cast<faults::Ten>(next.get())(a, b, c, d, e, f, g, h, i, j);                        \
  }
#define FAILS(symbol, kind) faults::fails(faults::kind, #symbol, __builtin_return_address(0))
#define FAULTY(symbol, kind, failure) FAULTY_IF(FAILS(symbol, kind), symbol, failure)
