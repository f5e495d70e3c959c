/// Stage 3 on a CUDA device for trees of vectors: the gradients of several outputs. docs/adr/0043-vector-leaves.md
#ifndef XGBGPU_GRADIENT_VECTOR_GRADIENTS_CUDA_H_
#define XGBGPU_GRADIENT_VECTOR_GRADIENTS_CUDA_H_

#include <cstdint>

#include "base/hd.h"
#include "core/fixed_point.h"
#include "cuda/device.h"
#include "gradient/gradient.h"
#include "gradient/gradient_cuda.h"
#include "xgbgpu/types.h"

namespace xgbgpu::cuda {

/// The gradients of all rows, output by output: [outputs, stride]. On the device.
struct VectorGradients {
  GradientPair const* pairs;
  std::uint64_t rows;
  std::uint64_t stride;  ///< an even number of rows
  std::uint32_t outputs;

  XGBGPU_HD GradientPair const* of(std::uint32_t output) const { return pairs + output * stride; }
};

/// The rows that a tree grows on. Arrays are on the device.
struct RowsOfTree {
  RowRecord const* listed;     ///< nullptr: all rows, in order
  std::uint32_t const* count;  ///< number of rows

  XGBGPU_HD RowIndex row(std::uint32_t i) const { return listed == nullptr ? i : listed[i].row; }
};

/// Facts about the gradients of one output, over the rows of a tree.
struct OutputFacts {
  GradientMaxima maxima;
  FormatSums sums;  ///< with fewer than kNarrowMinRows rows 0
};
/// Facts about all outputs. On the device a tree's OutputFacts [outputs] follow.
struct alignas(16) VectorFacts {
  std::uint32_t rows;
  std::uint32_t hessians_differ;  ///< not 0: a row's outputs have different hessians
};

/// Returns the words of `values` values, two each.
constexpr std::uint32_t NarrowWords(std::uint32_t values) { return (values + 1) / 2; }

/// Rows in the narrow format. The values of a row are side by side: gradients, then hessians, each filled up to an even
/// number with zeros. Three words, which a kernel reads at a time, lie in 16 bytes.
struct NarrowRows {
  static constexpr int kChunkWords = 3;

  std::uint32_t* words;      ///< [rows, row_chunks, 4] on the device, two values each
  std::uint32_t grad_words;  ///< of a row
  std::uint32_t all_words;

  NarrowRows() = default;
  NarrowRows(std::uint32_t* data, std::uint32_t outputs, bool one_hessian)
      : words{data}, grad_words{NarrowWords(outputs)}, all_words{grad_words + NarrowWords(one_hessian ? 1 : outputs)} {}

  XGBGPU_HD std::uint32_t row_chunks() const { return (all_words + kChunkWords - 1) / kChunkWords; }
  XGBGPU_HD std::uint32_t row_words() const { return 4 * row_chunks(); }
  /// Returns where a word is in a row.
  XGBGPU_HD static std::uint32_t PlaceOf(std::uint32_t word) { return word / kChunkWords * 4 + word % kChunkWords; }
};

/// Where gradients in fixed point go.
struct VectorIntegers {
  GradientFormat const* formats;  ///< [outputs] on the device
  bool one_hessian;               ///< the hessians of all outputs are equal
  NarrowRows rows;                ///< words: nullptr, or where narrow gradients go
  GradientPair* pairs;            ///< nullptr, or [outputs, stride]: where narrow gradients go, as whole numbers
  GradientSum* roots;             ///< [outputs] sums over the rows of the tree; zeros before
};

/// Copies gradients [rows, outputs] to [outputs, stride]. Both are on the device.
void ToOutputs(GradientPair const* row_major, VectorGradients const& to, GradientPair* pairs,
               DeviceLimits const& limits, cudaStream_t stream);
/// Fills *facts and the maxima of `outputs`, which are zero before.
void FindLargestOfOutputs(VectorGradients const& gradients, RowsOfTree const& rows, VectorFacts* facts,
                          OutputFacts* outputs, DeviceLimits const& limits, cudaStream_t stream);
/// Fills the sums of `outputs`, which are zero before, from their maxima.
void SumForFormats(VectorGradients const& gradients, RowsOfTree const& rows, OutputFacts* outputs,
                   DeviceLimits const& limits, cudaStream_t stream);
/// Brings the rows of the tree to fixed point, and sums them. *draw is on the device: random numbers depend on the row,
/// and all outputs of a row share them.
void QuantiseVectors(VectorGradients const& gradients, RowsOfTree const& rows, TreeDraw const* draw,
                     VectorIntegers const& to, cudaStream_t stream);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_GRADIENT_VECTOR_GRADIENTS_CUDA_H_
