/// XGBGPU_HD marks functions that host and device compilers build from one source.
#ifndef XGBGPU_CORE_HD_H_
#define XGBGPU_CORE_HD_H_

#if defined(__CUDACC__)
#define XGBGPU_HD __host__ __device__ __forceinline__
#else
#define XGBGPU_HD inline
#endif

#endif  // XGBGPU_CORE_HD_H_
