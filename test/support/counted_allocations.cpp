#include "support/counted_allocations.hpp"

#include <dlfcn.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> allocation_count{0};
std::atomic<long> execution_count{0};
thread_local bool inside_onednn = false;

// Only the first thread of a team counts: oneDNN 3 also allocates on the others, and they compute the same as
// the first in our own kernels.
bool counts() { return !inside_onednn && omp_get_thread_num() == 0; }

void* allocate(std::size_t size, std::align_val_t alignment) noexcept {
  if (counts()) ++allocation_count;
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
}

void* allocate_or_throw(std::size_t size, std::align_val_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr && size > 0) throw std::bad_alloc();
  return memory;
}

constexpr std::align_val_t kUsual{alignof(std::max_align_t)};

}  // namespace

namespace convoke::test {
long allocations() { return allocation_count; }
long primitive_executions() { return execution_count; }
}  // namespace convoke::test

// All forms, because a library may call any of them, and free with one form what another has allocated.
void* operator new(std::size_t n) { return allocate_or_throw(n, kUsual); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, kUsual); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, a); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, a); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, kUsual); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, kUsual); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, a);
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, a);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }

extern "C" dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream,
                                                int count, const dnnl_exec_arg_t* arguments) {
  using Execute = decltype(&dnnl_primitive_execute);
  static const auto real = reinterpret_cast<Execute>(dlsym(RTLD_NEXT, "dnnl_primitive_execute"));
  ++execution_count;
  inside_onednn = true;
  const dnnl_status_t status = real(primitive, stream, count, arguments);
  inside_onednn = false;
  return status;
}
