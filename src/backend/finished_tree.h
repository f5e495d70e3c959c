/// Checks the sizes that callers pass to a builder: against the rows of its matrix, and the nodes of its last tree.
#ifndef XGBGPU_BACKEND_FINISHED_TREE_H_
#define XGBGPU_BACKEND_FINISHED_TREE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/message.h"
#include "xgbgpu/error.h"
#include "xgbgpu/span.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

/// Throws  InvalidArgument from its checks; `call` is the caller's name
class FinishedTree {
 public:
  explicit FinishedTree(std::uint64_t rows) : rows_{rows} {}

  void Forget() { nodes_.reset(); }
  void Set(std::size_t nodes) { nodes_ = nodes; }

  void CheckGradients(std::size_t size) const {
    if (size == rows_) return;
    Throw<InvalidArgument>("There are ", size, " gradients; allowed: one for each of the ", rows_, " rows");
  }
  /// Checks gradients [rows, outputs] of a tree of vectors.
  void CheckGradients(std::size_t size, std::uint32_t outputs) const {
    if (outputs != 0 && size == rows_ * outputs) return;
    Throw<InvalidArgument>("There are ", size, " gradients of ", outputs, " outputs; allowed: one for each of the ",
                           rows_, " rows and each of 1 or more outputs");
  }
  void CheckNodes(char const* call, std::size_t size) const { Check(call, size, nodes_.value_or(0)); }

  /// Checks the arguments of TreeBuilder::LeafPositions.
  void CheckPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
    Check("LeafPositions", positions.size(), rows_);
    if (!sampled_out.empty()) Check("LeafPositions", sampled_out.size(), rows_);
  }

 private:
  void Check(char const* call, std::size_t size, std::size_t wanted) const {
    if (!nodes_) Throw<InvalidArgument>(call, ": no tree has been grown");
    if (size != wanted) Throw<InvalidArgument>(call, ": array of ", size, " elements; allowed: ", wanted);
  }

  std::uint64_t rows_;
  std::optional<std::size_t> nodes_;  ///< number of nodes of the last tree, if it was finished
};

}  // namespace xgbgpu

#endif  // XGBGPU_BACKEND_FINISHED_TREE_H_
