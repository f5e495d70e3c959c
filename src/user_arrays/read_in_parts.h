/// Reads one source with several threads, each a part of its rows.
#ifndef XGBGPU_USER_ARRAYS_READ_IN_PARTS_H_
#define XGBGPU_USER_ARRAYS_READ_IN_PARTS_H_

#include <functional>

#include "xgbgpu/rows.h"

namespace xgbgpu {

/// Calls read(i, part) for every i < parts at the same time, and waits: read(0, part) in the calling thread, every
/// other call in its own thread. With one part it calls read(0, source).
///
/// Every row is in one part and keeps its number. rows() of a part is the source's. If the source is one array, a part
/// has consecutive rows of it (ForEachArray). Otherwise a part has consecutive rows of each batch: one thread makes the
/// batches, and all threads work on each. A part may have no rows.
///
/// In      read    makes the same passes over batches in all parts
///         source  read by the calling thread only, unless it is one array
/// Cost    four barriers of all threads for each batch
/// Throws  the exception of the lowest failed part, after all parts have ended. After a failure no part waits for
/// another
void ReadInParts(RowSource const& source, int parts, std::function<void(int i, RowSource const& part)> const& read);

/// Returns true if threads may divide the rows: rows on a device are processed there.
inline bool MayBeDealt(RowSource const& rows) {
  auto const array = rows.dense();
  return !array || array->device == kHostMemory;
}

}  // namespace xgbgpu

#endif  // XGBGPU_USER_ARRAYS_READ_IN_PARTS_H_
