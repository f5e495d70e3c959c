/// Makes a QuantileDMatrix of ours from the batches of a caller.
#ifndef XGBGPU_PLUGIN_MATRIX_HOLD_BATCHES_H_
#define XGBGPU_PLUGIN_MATRIX_HOLD_BATCHES_H_

#include <xgboost/c_api.h>
#include <xgboost/data.h>

#include <memory>

#include "data/batches.h"
#include "matrix/held_bins.h"
#include "xgbgpu/dataset.h"
#include "xgbgpu/streamed_rows.h"

namespace xgbgpu::plugin {

/// Goes through the batches twice: to count them, and to copy them. Returns a HeldBins of one batch on the host, or of
/// all batches on a GPU. On a GPU bins are made at once, and the values are freed. With `ref` the values are kept,
/// because the matrix will be evaluated. If all batches together do not fit the GPU, more passes are made, and bins
/// alone are kept, with or without `ref`.
///
/// Returns null if XGBoost has to make the matrix or to report an error: for several batches on the host, without room
/// on the device, or if MayHoldBins or FitsHeldBins is false.
///
/// ref      the matrix whose bins it shares, or null
/// Throws   dmlc::Error as Batches does; InvalidArgument as DeviceRowsBuilder and StreamedRows do
DMatrixHandle HoldBatches(Batches* batches, BinsConfig config, std::shared_ptr<xgboost::DMatrix> ref,
                          StreamPolicy const& policy = {});

/// Puts a HeldBins into the handle `made` of a stock QuantileDMatrix of `batches`. The batches have recorded their
/// values. In a process group XGBoost makes the matrix, because its construction communicates. Does nothing without
/// recorded values, or if MayHoldBins or FitsHeldBins is false.
void HoldBesideBins(Batches* batches, BinsConfig config, std::shared_ptr<xgboost::DMatrix> ref, DMatrixHandle made);

/// Makes a HeldBins of bins alone, in `place`, of one batch on the host without a copy: a dense array that ViewRows
/// takes. The matrix shares no bins. The whole array is read before this returns.
///
/// Returns null if the batch has to be copied, or XGBoost is to make the matrix, as HoldBatches says.
/// Throws   dmlc::Error as Batches does; the errors of Dataset::Build
DMatrixHandle BinAtOnce(Batches* batches, BinsConfig config, Place const& place);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_HOLD_BATCHES_H_
