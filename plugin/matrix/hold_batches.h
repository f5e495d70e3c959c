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
/// all batches on a GPU. On a GPU bins are made at once, and the values go. A matrix that shares the bins of another
/// one keeps its values, because it will be evaluated. Batches on a GPU that are too large to be there all at once are
/// gone through more often; then bins alone are kept in any case.
///
/// Returns null where XGBoost makes the matrix or says what is wrong: of several batches on the host, without room on
/// the device, or if MayHoldBins or FitsHeldBins say so.
///
/// ref      the matrix whose bins it shares, or null
/// Throws   dmlc::Error as Batches does; InvalidArgument as DeviceRowsBuilder and StreamedRows do
DMatrixHandle HoldBatches(Batches* batches, BinsConfig config, std::shared_ptr<xgboost::DMatrix> ref,
                          StreamPolicy const& policy = {});

/// Puts a HeldBins into the handle of a stock QuantileDMatrix that was made of `batches`, which have recorded their
/// values. XGBoost makes the matrix in a process group, where its construction communicates. Does nothing if there are
/// no values, or MayHoldBins or FitsHeldBins say so.
void HoldBesideBins(Batches* batches, BinsConfig config, std::shared_ptr<xgboost::DMatrix> ref, DMatrixHandle made);

/// Makes a HeldBins of bins alone, in `place`, of the batch where it lies: a dense array that ViewRows takes. There is one
/// batch on the host, and no other matrix whose bins it shares. Everything of the array is read before this returns.
///
/// Returns null if the batch has to be copied, or XGBoost is to make the matrix, as HoldBatches says.
/// Throws   dmlc::Error as Batches does; the errors of Dataset::Build
DMatrixHandle BinAtOnce(Batches* batches, BinsConfig config, Place const& place);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_MATRIX_HOLD_BATCHES_H_
