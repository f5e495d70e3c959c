/// NVIDIA's library of sums over GPUs, which is loaded when it is first needed. CUDA builds only.
/// docs/adr/0025-gpus-of-several-hosts.md
#ifndef XGBGPU_COLLECTIVE_NCCL_LIBRARY_CUDA_H_
#define XGBGPU_COLLECTIVE_NCCL_LIBRARY_CUDA_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

namespace xgbgpu::cuda {

// The part of NCCL's C interface that is used, so that neither building nor loading this library needs NCCL. It is the
// same from 2.14 on; tests/cuda/collective/nccl_test.cc compares it with nccl.h where that is installed.
using NcclComm = struct NcclCommData*;
enum NcclResult : int {
  kNcclSuccess = 0,
  kNcclUnhandledCudaError = 1,
  kNcclSystemError = 2,
  kNcclInternalError = 3,
  kNcclInvalidArgument = 4,
  kNcclInvalidUsage = 5,
  kNcclRemoteError = 6,
  kNcclInProgress = 7,
};
constexpr int kNcclInt64 = 4;  ///< of ncclDataType_t
constexpr int kNcclSum = 0;    ///< of ncclRedOp_t

struct NcclUniqueId {
  char bytes[128];
};

/// ncclConfig_t as it was in 2.14. Newer libraries take what it has, by its size and version.
struct NcclConfig {
  std::size_t size{sizeof(NcclConfig)};
  unsigned magic{0xcafebeef};
  unsigned version{21400};
  int blocking{0};  ///< calls return at once, and CommGetAsyncError says when they are over
};

/// The functions, by their names without "nccl". Tests have tables of their own.
struct NcclFunctions {
  NcclResult (*GetVersion)(int* version);
  NcclResult (*GetUniqueId)(NcclUniqueId* id);
  NcclResult (*CommInitRankConfig)(NcclComm* comm, int ranks, NcclUniqueId id, int rank, NcclConfig* config);
  NcclResult (*AllReduce)(void const* from, void* to, std::size_t n, int type, int operation, NcclComm comm,
                          cudaStream_t stream);
  NcclResult (*AllGather)(void const* from, void* to, std::size_t n, int type, NcclComm comm, cudaStream_t stream);
  NcclResult (*CommGetAsyncError)(NcclComm comm, NcclResult* error);
  NcclResult (*CommFinalize)(NcclComm comm);
  NcclResult (*CommDestroy)(NcclComm comm);
  NcclResult (*CommAbort)(NcclComm comm);
  char const* (*GetErrorString)(NcclResult result);
  char const* (*GetLastError)(NcclComm comm);
};

struct NcclLibrary {
  NcclFunctions functions;
  int version;       ///< 22809 for 2.28.9
  std::string path;  ///< of the file

  std::string VersionText() const;
};

/// Returns NCCL. It is looked for, in this order: in the file that the environment variable XGBGPU_NCCL names, and then
/// nowhere else; in this process, where another library may have loaded it; where the system's loader finds libraries;
/// and in the file that XGBGPU_NCCL_WHEEL names, which the Python package sets to PyPI's. It stays loaded. The environment
/// variable NCCL_NVLS_ENABLE becomes 0 in this process, unless it is set.
///
/// Throws  Unsupported, which says where it was looked for and what to install; or that it is older than 2.14
NcclLibrary const& LoadNccl();

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_NCCL_LIBRARY_CUDA_H_
