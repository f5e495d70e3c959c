/// Several threads that read one source at the same time, each a part of its rows.
#ifndef XGBGPU_USER_ARRAYS_READ_IN_PARTS_H_
#define XGBGPU_USER_ARRAYS_READ_IN_PARTS_H_

#include <functional>

#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Calls read(i, part) for every i < parts, at the same time, and waits: read(0, part) in the calling thread, the others
/// each in a thread of its own. With one part it calls read(0, source).
///
/// Every row is in one part, and keeps its number; rows() of a part is that of the source. If the source is one array,
/// a part has consecutive rows of it (ForEachArray). Else a part has consecutive rows of each batch, so that one thread
/// makes the batches and all have something to do with each. A part may have no rows.
///
/// In      read    all make the same passes over the batches of their parts
///         source  is read by the calling thread, unless it is one array
/// Cost    four meetings of all threads for each batch
/// Throws  what the first that failed, by number, has thrown, after all have ended. If one fails, the others do not
///         wait for it
void ReadInParts(RowSource const& source, int parts, std::function<void(int i, RowSource const& part)> const& read);

/// Rows that lie on a device are worked on there.
inline bool MayBeDealt(RowSource const& rows) {
  auto const array = rows.dense();
  return !array || array->device == kHostMemory;
}

}  // namespace xgbgpu

#endif  // XGBGPU_USER_ARRAYS_READ_IN_PARTS_H_
