// Builds matrices on one device from sources or quantiles.
#include "matrix/matrix_cuda.h"

#include <optional>
#include <utility>

#include "matrix/matrix_builder_cuda.h"
#include "matrix/row_sizes.h"

namespace xgbgpu::cuda {

namespace {

/// Bins all rows on the current device. `present` [features] has the columns' numbers of values.
std::unique_ptr<DeviceMatrix> BinAll(MatrixBuilder* builder, std::uint64_t rows,
                                     std::vector<std::uint64_t> const& present, std::optional<KeyColumns> columns,
                                     std::optional<host::RowSizes> const& sizes, std::size_t budget) {
  LayoutFacts facts = FactsOnDevice(rows, present);
  builder->SetLayout(ChooseDeviceLayout(builder->cuts(), facts), facts.stored);
  if (!builder->Bin(&columns, sizes, budget)) {
    facts.room = 0;
    builder->SetLayout(ChooseDeviceLayout(builder->cuts(), facts), facts.stored);
    builder->Bin(&columns, sizes, budget);
  }
  return builder->Finish();
}

}  // namespace

void CheckShape(RowSource const& source) {
  if (source.rows() == 0) throw InvalidArgument{"The training data on a device have 0 rows; allowed: 1 or more"};
  host::CheckShape(source);
}

std::unique_ptr<DeviceMatrix> QuantiseMatrix(RowSource const& source, Cuts cuts, BuildOptions const& options) {
  CheckShape(source);
  std::optional<host::RowSizes> const sizes = host::MeasureRows(source, options.threads);
  DeviceArena arena{"Quantising the matrix on the GPU"};
  MatrixBuilder builder{source, std::move(cuts), options, &arena};
  return BinAll(&builder, source.rows(), sizes->column, {}, sizes, 0);
}

std::unique_ptr<DeviceMatrix> QuantiseMatrix(RowSource const& source, Cuts cuts, int device, int threads) {
  DeviceScope const scope{device};
  return QuantiseMatrix(source, std::move(cuts), BuildOptions{device, threads});
}

std::unique_ptr<DeviceMatrix> BuildMatrix(RowSource const& source, CutRequest const& wanted,
                                          BuildOptions const& options) {
  DeviceArena arena{"Quantising the matrix on the GPU"};
  std::size_t const budget = MemoryBudget(options);
  Quantiles quantiles = FindQuantiles(source, wanted, options, &arena);
  CheckShape(source);
  return BinInCore(source, std::move(quantiles), options, budget, &arena);
}

std::unique_ptr<DeviceMatrix> BinInCore(RowSource const& source, Quantiles quantiles, BuildOptions const& options,
                                        std::size_t budget, DeviceArena* arena) {
  MatrixBuilder builder{source, std::move(quantiles.cuts), options, arena};
  return BinAll(&builder, source.rows(), quantiles.present, std::move(quantiles.columns), {}, budget);
}

}  // namespace xgbgpu::cuda
