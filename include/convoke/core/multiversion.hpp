#pragma once

/// Marks a free function whose plain loop is compiled for several instruction sets. The loader chooses the
/// best one, so that one portable binary is fast everywhere. Not used under sanitizers (their runtime is not
/// initialized when the choice is made), or with compilers that cannot clone by architecture level.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define CONVOKE_MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CONVOKE_MULTIVERSION
#endif
