/// XGBGPU_HD marks functions that host and device compilers build from one source.
#ifndef XGBGPU_CORE_HD_H_
#define XGBGPU_CORE_HD_H_

#if defined(__CUDACC__)
#define XGBGPU_HD __host__ __device__ __forceinline__
#else
#define XGBGPU_HD inline
#endif

/// XGBGPU_VECTOR marks host loops that are compiled for AVX2 as well and chosen when the library is loaded. The
/// arithmetic is the same, contraction is off: so are the bits. Sanitizers cannot follow such functions.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define XGBGPU_VECTOR __attribute__((target_clones("avx2", "default")))
#else
#define XGBGPU_VECTOR
#endif

#endif  // XGBGPU_CORE_HD_H_
