/// One process's end of NCCL: how it is made, waited for and ended. CUDA builds only.
/// docs/adr/0025-gpus-of-several-hosts.md
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

/// What the host and its device tell each other about exchanges, in memory that both reach.
struct NcclWords {
  std::uint32_t finished;  ///< number of the last exchange that is over; written by the device, behind the exchange
  std::uint32_t lost;      ///< not 0: what exchanges bring means nothing any more; written by the host
};

/// How long others are waited for, in seconds.
struct NcclPatience {
  double begin{120};     ///< until all have met
  double exchange{300};  ///< for an exchange that is due
  double end{10};        ///< when it is torn down, and for an abort
};

/// A communicator of NCCL among the processes of a group, which this process's device is one of.
///
/// NCCL's calls do not block (NcclConfig::blocking): whoever makes one asks for its end again and again, and gives up
/// after a time. A thread of its own watches exchanges that are under way on the device. If NCCL reports an error, or
/// nothing is finished for too long, or somebody calls Abort, it tells the device (NcclWords::lost) and aborts the
/// communicator, which ends NCCL's kernels here. Processes of other hosts then see an error, those of this host a
/// HostWord. After that every call throws, and nothing waits. Calls of NCCL are made by one thread at a time.
class NcclCommunicator {
 public:
  /// All processes of `group` make one at the same time; if one cannot, all throw: those what was wrong with them, the
  /// others OtherShardFailed. The device must be current. `gpu` is what no two devices have in common (a UUID), as a
  /// text. `words` are 0. enter() is called once by the thread that watches.
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

  // An exchange is one of the next two calls, and then something that writes its number to words->finished, on the same
  // stream. Both return the number. They throw ShardsLost if the communicator has failed, or NCCL refuses the call.

  /// Enqueues sums of integers over all devices. `to` may be `from`.
  std::uint32_t AllReduce(std::int64_t const* from, std::int64_t* to, std::uint64_t n, cudaStream_t stream);
  /// Enqueues that all get all devices' `n` integers, in `to` [devices, n].
  std::uint32_t AllGather(std::int64_t const* from, std::int64_t* to, std::uint64_t n, cudaStream_t stream);

  /// Ends all exchanges: for a process that cannot go on. May be called by any thread.
  void Abort() noexcept;
  /// Tears NCCL down, in a bounded time: no exchange may be under way, unless it has failed. Then it has failed.
  void End() noexcept;
  bool failed() const;
  /// Throws ShardsLost, with what was wrong, if it has failed.
  void Check() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< which the watching thread has, too
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_COLLECTIVE_NCCL_COMMUNICATOR_CUDA_H_
