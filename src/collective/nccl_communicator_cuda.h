/// One process's NCCL communicator: its making, waits and end. CUDA builds only. docs/adr/0025-gpus-of-several-hosts.md
#ifndef XGBGPU_COLLECTIVE_NCCL_COMMUNICATOR_CUDA_H_
#define XGBGPU_COLLECTIVE_NCCL_COMMUNICATOR_CUDA_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "collective/nccl_library_cuda.h"
#include "xgbgpu/collective.h"

namespace xgbgpu::cuda {

/// State of exchanges that the host and its device share, in memory that both reach.
struct NcclWords {
  std::uint32_t finished;  ///< number of the last finished exchange; the device writes it after the exchange
  std::uint32_t lost;      ///< not 0: results of exchanges are invalid from now on; the host writes it
  /// Most families of a level with sums that did not fit 32 bits; 0: none. The device writes it, the host clears it.
  std::uint32_t overflowed;
};

/// Time limits in seconds.
struct NcclPatience {
  double begin{120};     ///< for all processes to join
  double exchange{300};  ///< for an exchange
  double end{10};        ///< for the end, or an abort
};

/// A communicator of NCCL over the devices of a group's processes, one device each.
///
/// Processes meet in an NCCL communicator whose calls do not block: the calling thread polls for their end and gives up
/// after a time limit. Exchanges use a second communicator, split off the first. Its calls block: since 2.23 NCCL
/// starts a thread for each call that does not block. A watch thread monitors exchanges on the device. It fails the
/// communicator if NCCL reports an error, if no exchange finishes in time, or after a call of Abort: it tells the
/// device (NcclWords::lost) and aborts NCCL's communicator, which ends NCCL's kernels and calls here. Processes of
/// other hosts then see an error, and processes of this host see a HostWord. After a failure every call throws, and
/// nothing waits.
class NcclCommunicator {
 public:
  /// All processes of `group` construct it at the same time. If one cannot, all throw: the failed processes their own
  /// error, all other processes OtherShardFailed. The device must be current. `gpu` identifies the device among all
  /// devices (a UUID), as a text. `words` are 0. The watch thread calls enter() once.
  ///
  /// Throws  InvalidArgument (versions of NCCL differ), Unsupported (two processes have one device), DeviceError
  NcclCommunicator(NcclLibrary const& library, Collective* group, std::string const& gpu,
                   std::shared_ptr<NcclWords> words, NcclPatience const& patience = {},
                   std::function<void()> enter = {});
  ~NcclCommunicator() { End(); }
  NcclCommunicator(NcclCommunicator const&) = delete;
  NcclCommunicator& operator=(NcclCommunicator const&) = delete;

  int devices() const;
  int device() const;

  // An exchange is one of the next calls, and then a kernel that writes its number to words->finished, on the same
  // stream. The calls return the number. `type` is kNcclInt32 or kNcclInt64. The calls throw ShardsLost if the
  // communicator has failed, or if NCCL refuses the call.

  /// Enqueues sums of integers over all devices. `to` may be `from`.
  std::uint32_t AllReduce(void const* from, void* to, std::uint64_t n, int type, cudaStream_t stream);
  /// Enqueues sums of integers over all devices. Device d gets the sums [own] of from [devices, own] at d.
  std::uint32_t ReduceScatter(void const* from, void* to, std::uint64_t own, int type, cudaStream_t stream);
  /// Enqueues a gather of all devices' `n` integers, in `to` [devices, n].
  std::uint32_t AllGather(std::int64_t const* from, std::int64_t* to, std::uint64_t n, cudaStream_t stream);

  /// Ends all exchanges, because this process cannot go on. Any thread may call it.
  void Abort() noexcept;
  /// Ends NCCL in a bounded time. No exchange may be in progress, unless it has failed. The communicator has failed
  /// from then on.
  void End() noexcept;
  bool failed() const;
  /// Throws ShardsLost with the reason if the communicator has failed.
  void Check() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< shared with the watch thread
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_NCCL_COMMUNICATOR_CUDA_H_
