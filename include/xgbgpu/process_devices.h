/// The devices of the processes of a group, and the library that connects them.
#ifndef XGBGPU_PROCESS_DEVICES_H_
#define XGBGPU_PROCESS_DEVICES_H_

#include <cstdint>
#include <string>

#include "xgbgpu/api.h"
#include "xgbgpu/collective.h"

namespace xgbgpu {

/// The place of a process of a group on its machine.
struct WorkerPlace {
  int device;             ///< ordinal of its device, if the user names none
  std::uint64_t on_host;  ///< number of processes of the group on this machine, including this one
};

/// Returns the place of this process, which sees `devices` devices. All processes of the group make the first call at
/// the same time. Cost: the first call exchanges two numbers a process; later calls nothing.
XGBGPU_API WorkerPlace PlaceOfWorker(Collective* group, int devices);

/// Returns true if the devices of all processes can train together. `device` is the one of this process. All processes
/// call it at the same time. If false, *why_not is the reason.
XGBGPU_API bool DevicesCanMeet(Collective* group, int device, std::string* why_not);

/// Closes the connections between the devices of a group that has ended. A build without CUDA does nothing.
XGBGPU_API void ForgetDevices(Collective const* group);

/// Returns version and file of NCCL, for example "2.28.9 from /usr/lib/libnccl.so.2". Empty if it is not found or in a
/// build without CUDA, with the reason in *why_not. Loads NCCL; starts nothing.
XGBGPU_API std::string NcclHere(std::string* why_not);

}  // namespace xgbgpu

#endif  // XGBGPU_PROCESS_DEVICES_H_
