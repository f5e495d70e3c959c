/// Stage 2 on a CUDA device: kernels that find bins, and the way from rows to a matrix that reads dense data once.
#ifndef XGBGPU_MATRIX_MATRIX_CUDA_H_
#define XGBGPU_MATRIX_MATRIX_CUDA_H_

#include <cstdint>
#include <memory>

#include "matrix/device_matrix.h"
#include "quantile/quantile_cuda.h"

namespace xgbgpu::cuda {

/// Finds cuts as host::ComputeCuts or host::CutsFromBinEdges do, then the bin of every value. Arrays, and entries of
/// which at least half are stored, are read once if they fit the device beside their bins. Other data are read as often
/// as finding cuts needs, and then once more for a dense matrix, twice for a sparse one. No raw data stay on the
/// device. options.device must be current.
std::unique_ptr<DeviceMatrix> BuildMatrix(RowSource const& source, CutsWanted const& wanted,
                                          BuildOptions const& options);

/// Does the second part of BuildMatrix: bins by cuts that have been found. `budget` is MemoryBudget(options) before that;
/// `arena` holds what the quantiles have on the device.
std::unique_ptr<DeviceMatrix> BinInCore(RowSource const& source, Quantiles quantiles, BuildOptions const& options,
                                        std::size_t budget, DeviceArena* arena);

/// Throws InvalidArgument unless the source has rows and features. Kernels need a row: data without any stay on the
/// host, where they cost nothing.
void CheckShape(RowSource const& source);

/// Does what QuantiseMatrix in device_matrix.h does, within the memory that the options allow.
std::unique_ptr<DeviceMatrix> QuantiseMatrix(RowSource const& source, Cuts cuts, BuildOptions const& options);

/// Writes the records of rows first_row … first_row + n - 1, whose keys lie in columns: keys[f · stride + r].
/// cut_values are Cuts::values on the device; `records` are those of the whole matrix.
void BinColumns(DeviceMatrixView const& matrix, float const* cut_values, std::uint32_t const* keys,
                std::uint64_t stride, std::uint64_t first_row, std::uint64_t n, std::uint8_t* records,
                cudaStream_t stream);

/// Finds the cell, cells[i], of entries[i] for i < n. No entry is NaN.
void BinEntries(DeviceMatrixView const& matrix, float const* cut_values, Entry const* entries, std::uint64_t n,
                std::uint32_t* cells, cudaStream_t stream);

/// Writes to counts[r] how many values row r has in columns of keys, keys[f · rows + r].
void CountRows(std::uint32_t const* keys, std::uint64_t rows, FeatureIndex features, std::uint64_t* counts,
               cudaStream_t stream);

/// Writes the cells of every row, ascending, to cells[row_ptr[r] …], from columns of keys.
void BinSparseColumns(DeviceMatrixView const& matrix, float const* cut_values, std::uint32_t const* keys,
                      std::uint64_t const* row_ptr, std::uint32_t* cells, cudaStream_t stream);

/// Gives a sparse matrix its rows as CSR, in the matrix's own memory. If its layout is in tiles, the cells are dealt to
/// these and the CSR is freed; but if memory is short for that, the layout becomes CSR.
/// Throws  OutOfDeviceMemory, also for tiles of data that were mostly stored: records take less than CSR
/// (matrix/sparse_tiles_cuda.cu)
void KeepSparseRows(DeviceMatrix* matrix, DeviceBuffer<std::uint32_t> cells, DeviceBuffer<std::uint64_t> row_ptr);

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_MATRIX_MATRIX_CUDA_H_
