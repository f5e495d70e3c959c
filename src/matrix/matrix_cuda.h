/// Stage 2 on a CUDA device: kernels that find bins, and the construction that reads dense data once.
#ifndef XGBGPU_MATRIX_MATRIX_CUDA_H_
#define XGBGPU_MATRIX_MATRIX_CUDA_H_

#include <cstdint>
#include <memory>

#include "matrix/device_matrix.h"
#include "quantile/quantile_cuda.h"

namespace xgbgpu::cuda {

/// Finds cuts as host::ComputeCuts or host::CutsFromBinEdges do, then the bin of every value. Reads arrays, and entries
/// of which at least half are stored, once if they fit the device beside their bins. Reads other data for the cuts, and
/// then once more for a dense matrix, twice for a sparse one. No raw data stay on the device. options.device must be
/// current.
std::unique_ptr<DeviceMatrix> BuildMatrix(RowSource const& source, CutRequest const& wanted,
                                          BuildOptions const& options);

/// The second part of BuildMatrix: bins by known cuts. `budget` is MemoryBudget(options) before the first part; `arena`
/// holds the quantiles' data on the device.
std::unique_ptr<DeviceMatrix> BinInCore(RowSource const& source, Quantiles quantiles, BuildOptions const& options,
                                        std::size_t budget, DeviceArena* arena);

/// Throws InvalidArgument unless the source has rows and features. Kernels need a row. Data without rows stay on the
/// host.
void CheckShape(RowSource const& source);

/// QuantiseMatrix of device_matrix.h within the options' memory.
std::unique_ptr<DeviceMatrix> QuantiseMatrix(RowSource const& source, Cuts cuts, BuildOptions const& options);

/// Writes the records of rows first_row … first_row + n - 1 from columns of keys: keys[f · stride + r]. cut_values are
/// Cuts::values on the device; `records` are the whole matrix's.
void BinColumns(DeviceMatrixView const& matrix, float const* cut_values, std::uint32_t const* keys,
                std::uint64_t stride, std::uint64_t first_row, std::uint64_t n, std::uint8_t* records,
                cudaStream_t stream);

/// Finds the cell, cells[i], of entries[i] for i < n. No entry is NaN.
void BinEntries(DeviceMatrixView const& matrix, float const* cut_values, Entry const* entries, std::uint64_t n,
                std::uint32_t* cells, cudaStream_t stream);

/// Writes to counts[r] the number of values of row r in columns of keys, keys[f · rows + r].
void CountRows(std::uint32_t const* keys, std::uint64_t rows, FeatureIndex features, std::uint64_t* counts,
               cudaStream_t stream);

/// Writes the cells of every row, ascending, to cells[row_ptr[r] …], from columns of keys.
void BinSparseColumns(DeviceMatrixView const& matrix, float const* cut_values, std::uint32_t const* keys,
                      std::uint64_t const* row_ptr, std::uint32_t* cells, cudaStream_t stream);

/// Gives a sparse matrix its rows as CSR, in the matrix's own memory. A layout in tiles divides the cells among the
/// tiles and frees the CSR. If memory is short for tiles, the layout becomes CSR.
/// Throws  OutOfDeviceMemory, also for tiles of mostly stored data, whose records take less than CSR
///         (matrix/sparse_tiles_cuda.cu)
void KeepSparseRows(DeviceMatrix* matrix, DeviceBuffer<std::uint32_t> cells, DeviceBuffer<std::uint64_t> row_ptr);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_MATRIX_CUDA_H_
