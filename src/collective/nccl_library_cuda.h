/// NVIDIA's library of collective calls, loaded on first use. CUDA builds only. docs/adr/0025-gpus-of-several-hosts.md
#ifndef XGBGPU_COLLECTIVE_NCCL_LIBRARY_CUDA_H_
#define XGBGPU_COLLECTIVE_NCCL_LIBRARY_CUDA_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

namespace xgbgpu::cuda {

// The used part of NCCL's C interface, so that neither the build nor the load of this library needs NCCL. It is
// unchanged since 2.18. tests/cuda/collective/nccl_test.cc compares it with nccl.h where that is installed.
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
// from ncclDataType_t
constexpr int kNcclInt32 = 2;
constexpr int kNcclInt64 = 4;
constexpr int kNcclSum = 0;  ///< from ncclRedOp_t

struct NcclUniqueId {
  char bytes[128];
};

/// ncclConfig_t of 2.14. Newer libraries accept it by its size and version.
struct NcclConfig {
  std::size_t size{sizeof(NcclConfig)};
  unsigned magic{0xcafebeef};
  unsigned version{21400};
  int blocking{0};  ///< 0: calls return at once, and CommGetAsyncError reports their end
};

/// NCCL's functions without the prefix "nccl". Tests have their own tables.
struct NcclFunctions {
  NcclResult (*GetVersion)(int* version);
  NcclResult (*GetUniqueId)(NcclUniqueId* id);
  NcclResult (*CommInitRankConfig)(NcclComm* comm, int ranks, NcclUniqueId id, int rank, NcclConfig* config);
  NcclResult (*CommSplit)(NcclComm comm, int color, int key, NcclComm* part, NcclConfig* config);
  NcclResult (*AllReduce)(void const* from, void* to, std::size_t n, int type, int operation, NcclComm comm,
                          cudaStream_t stream);
  NcclResult (*ReduceScatter)(void const* from, void* to, std::size_t own, int type, int operation, NcclComm comm,
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
  std::string path;  ///< of the library's file

  std::string VersionText() const;
};

/// Returns NCCL. Searches, in this order: the file that the environment variable XGBGPU_NCCL names, and then nothing
/// else; this process, where another library may have loaded it; the folders of the system's loader; the file that
/// XGBGPU_NCCL_WHEEL names, which the Python package sets to PyPI's. NCCL stays loaded. The environment variable
/// NCCL_NVLS_ENABLE becomes 0 in this process, unless it is set.
///
/// Throws  Unsupported with the places of the search and the package to install; or that NCCL is older than 2.18
NcclLibrary const& LoadNccl();

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_NCCL_LIBRARY_CUDA_H_
