/// XGBGPU_HD marks functions that host and device compilers build from one source.
#ifndef XGBGPU_BASE_HD_H_
#define XGBGPU_BASE_HD_H_

#if defined(__CUDACC__)
#define XGBGPU_HD __host__ __device__ __forceinline__
#else
#define XGBGPU_HD inline
#endif

/// XGBGPU_VECTOR marks host loops that are compiled for AVX2, too. The loader chooses one of the two versions. Both
/// give the same bits: the operations are the same, and contraction is off. Sanitizers cannot follow such functions.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define XGBGPU_VECTOR __attribute__((target_clones("avx2", "default")))
#else
#define XGBGPU_VECTOR
#endif

#endif  // XGBGPU_BASE_HD_H_
