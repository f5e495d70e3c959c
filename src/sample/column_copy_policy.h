/// Tuning numbers of copies of columns on a device. Changing one changes speed and memory, never a tree.
#ifndef XGBGPU_SAMPLE_COLUMN_COPY_POLICY_H_
#define XGBGPU_SAMPLE_COLUMN_COPY_POLICY_H_

namespace xgbgpu {

struct ColumnCopyPolicy {
  /// Most bytes of a copied row, in parts of the row's bytes. The copy itself reads all of the row and writes its own
  /// part, about what one level of the tree reads.
  double most_bytes{0.75};
  /// Most memory of a copy in core, in parts of the memory that is free before the first one.
  double most_free{0.5};
};

}  // namespace xgbgpu

#endif  // XGBGPU_SAMPLE_COLUMN_COPY_POLICY_H_
