#pragma once
// The only place that distinguishes oneDNN's versions: 2.x describes an operation first and adds attributes
// and engine later; 3.x takes everything at once and splits some functions of 2.x.
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace convoke::nn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Format = dnnl::memory::format_tag;

using Type = dnnl::memory::data_type;

inline constexpr auto kFloat = Type::f32;
inline constexpr auto kBf16 = Type::bf16;

/// Return the process's only engine and stream. A stream of the CPU engine has no state, so threads can share
/// it.
inline const dnnl::engine& engine() {
  static const dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}
inline const dnnl::stream& stream() {
  static const dnnl::stream instance(engine());
  return instance;
}

/// Returns the attributes of all our primitives: the caller provides scratch memory, one buffer per plan.
inline dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

/// What a primitive does to its result before it writes it: first it adds the value that is in the
/// destination, then it applies a function.
struct PostOps {
  bool sum = false;
  std::optional<dnnl::algorithm> activation = {};
  float alpha = 0, beta = 0;  ///< constants of the function
};

inline dnnl::primitive_attr attributes_with(const PostOps& ops) {
  dnnl::primitive_attr attr = attributes();
  dnnl::post_ops post;
  if (ops.sum) post.append_sum(1.F);
#if DNNL_VERSION_MAJOR >= 3
  if (ops.activation) post.append_eltwise(*ops.activation, ops.alpha, ops.beta);
#else
  if (ops.activation) post.append_eltwise(1.F, *ops.activation, ops.alpha, ops.beta);
#endif
  attr.set_post_ops(post);
  return attr;
}

/// Return primitive descriptors of P: forward, and backward with the forward descriptor as a hint.
template <class P, class... Args>
typename P::primitive_desc forward_desc(const dnnl::primitive_attr& attr, Args&&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return typename P::primitive_desc(engine(), std::forward<Args>(args)..., attr);
#else
  return typename P::primitive_desc(typename P::desc(std::forward<Args>(args)...), attr, engine());
#endif
}
template <class P, class Hint, class... Args>
typename P::primitive_desc backward_desc(const dnnl::primitive_attr& attr, const Hint& hint, Args&&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return typename P::primitive_desc(engine(), std::forward<Args>(args)..., hint, attr);
#else
  return typename P::primitive_desc(typename P::desc(std::forward<Args>(args)...), attr, engine(), hint);
#endif
}

/// Returns an element-wise activation whose backward reads its output.
inline dnnl::eltwise_forward::primitive_desc eltwise_forward_desc(dnnl::algorithm algorithm, const Desc& data,
                                                                  dnnl::prop_kind kind) {
#if DNNL_VERSION_MAJOR >= 3
  return forward_desc<dnnl::eltwise_forward>(attributes(), kind, algorithm, data, data, 0.F, 0.F);
#else
  return forward_desc<dnnl::eltwise_forward>(attributes(), kind, algorithm, data, 0.F, 0.F);
#endif
}
inline dnnl::eltwise_backward::primitive_desc eltwise_backward_desc(
    dnnl::algorithm algorithm, const Desc& gradient, const Desc& data,
    const dnnl::eltwise_forward::primitive_desc& hint) {
#if DNNL_VERSION_MAJOR >= 3
  return backward_desc<dnnl::eltwise_backward>(attributes(), hint, algorithm, gradient, gradient, data, 0.F,
                                               0.F);
#else
  return backward_desc<dnnl::eltwise_backward>(attributes(), hint, algorithm, gradient, data, 0.F, 0.F);
#endif
}

/// Returns a pooling without dilation.
inline dnnl::pooling_forward::primitive_desc pooling_forward_desc(dnnl::prop_kind kind,
                                                                  dnnl::algorithm algorithm, const Desc& src,
                                                                  const Desc& dst, const Dims& stride,
                                                                  const Dims& kernel, const Dims& before,
                                                                  const Dims& after) {
#if DNNL_VERSION_MAJOR >= 3
  return forward_desc<dnnl::pooling_forward>(attributes(), kind, algorithm, src, dst, stride, kernel,
                                             Dims{0, 0}, before, after);
#else
  return forward_desc<dnnl::pooling_forward>(attributes(), kind, algorithm, src, dst, stride, kernel, before,
                                             after);
#endif
}
inline dnnl::pooling_backward::primitive_desc pooling_backward_desc(
    dnnl::algorithm algorithm, const Desc& src, const Desc& dst, const Dims& stride, const Dims& kernel,
    const Dims& before, const Dims& after, const dnnl::pooling_forward::primitive_desc& hint) {
#if DNNL_VERSION_MAJOR >= 3
  return backward_desc<dnnl::pooling_backward>(attributes(), hint, algorithm, src, dst, stride, kernel,
                                               Dims{0, 0}, before, after);
#else
  return backward_desc<dnnl::pooling_backward>(attributes(), hint, algorithm, src, dst, stride, kernel,
                                               before, after);
#endif
}

inline Type type_of(const Desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_data_type();
#else
  return desc.data_type();
#endif
}

/// Returns the number of elements in memory, padding included.
inline std::size_t elements_of(const Desc& desc) {
  return desc.get_size() == 0 ? 0 : desc.get_size() / dnnl::memory::data_type_size(type_of(desc));
}

inline Dims dims_of(const Desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_dims();
#else
  return desc.dims();
#endif
}

/// Strides and inner blocks (size, dimension) of a blocked layout.
struct BlockedFormat {
  bool blocked = false;
  Dims strides;
  std::vector<std::pair<dnnl::memory::dim, dnnl::memory::dim>> inner;
};
inline BlockedFormat blocked_format(const Desc& desc) {
  BlockedFormat format;
#if DNNL_VERSION_MAJOR >= 3
  format.blocked = desc.get_format_kind() == dnnl::memory::format_kind::blocked;
  if (!format.blocked) return format;
  format.strides = desc.get_strides();
  const Dims sizes = desc.get_inner_blks();
  const Dims axes = desc.get_inner_idxs();
  for (std::size_t i = 0; i < sizes.size(); ++i) format.inner.emplace_back(sizes[i], axes[i]);
#else
  format.blocked = desc.data.format_kind == dnnl_blocked;
  if (!format.blocked) return format;
  const auto& blocking = desc.data.format_desc.blocking;
  format.strides.assign(blocking.strides, blocking.strides + desc.data.ndims);
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    format.inner.emplace_back(blocking.inner_blks[i], blocking.inner_idxs[i]);
  }
#endif
  return format;
}

}  // namespace convoke::nn
