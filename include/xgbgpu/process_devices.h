/// The devices of the processes of a group.
#ifndef XGBGPU_PROCESS_DEVICES_H_
#define XGBGPU_PROCESS_DEVICES_H_

#include <cstdint>
#include <string>

#include "xgbgpu/api.h"
#include "xgbgpu/collective.h"

namespace xgbgpu {

/// A process of a group among those of its host.
struct WorkerPlace {
  int device;             ///< if it names none
  std::uint64_t on_host;  ///< processes of the group that are on its host, this one included
};
/// Returns where this process is, which sees `devices` devices. All processes of the group ask at the same time for the
/// first time, and know it then.
XGBGPU_API WorkerPlace PlaceOfWorker(Collective* group, int devices);
/// Can the devices of all processes train together? All processes ask at the same time; each tells its own device.
/// *why_not is set if not.
XGBGPU_API bool DevicesCanMeet(Collective* group, int device, std::string* why_not);
/// The group has ended: what connects its devices is torn down. A build without CUDA does nothing.
XGBGPU_API void ForgetDevices(Collective const* group);
/// Returns the version and the file of NCCL, as "2.28.9 from /usr/lib/libnccl.so.2"; or an empty text, with *why_not
/// set. Loads it, and starts nothing. A build without CUDA has none.
XGBGPU_API std::string NcclHere(std::string* why_not);

}  // namespace xgbgpu

#endif  // XGBGPU_PROCESS_DEVICES_H_
