/// C functions that not every series of XGBoost has, or that no header declares (entry/functions.inc).
///
/// Functions of ours in front of them are compiled for every series, and exported where XGBoost has them.
#ifndef XGBGPU_PLUGIN_XGB_OLDER_FUNCTIONS_H_
#define XGBGPU_PLUGIN_XGB_OLDER_FUNCTIONS_H_

#include <xgboost/c_api.h>

#include <cstddef>

// Where XGBoost's header has a function, the compiler compares.
extern "C" {

XGB_DLL int XGDMatrixCreateFromCSREx(std::size_t const* indptr, unsigned const* indices, float const* values,
                                     std::size_t indptr_size, std::size_t stored, std::size_t columns,
                                     DMatrixHandle* out);
XGB_DLL int XGDMatrixCreateFromCSCEx(std::size_t const* col_ptr, unsigned const* indices, float const* values,
                                     std::size_t col_ptr_size, std::size_t stored, std::size_t rows,
                                     DMatrixHandle* out);
XGB_DLL int XGDMatrixCreateFromDT(void** data, char const** types, bst_ulong rows, bst_ulong columns,
                                  DMatrixHandle* out, int nthread);
XGB_DLL int XGDMatrixCreateFromArrowCallback(XGDMatrixCallbackNext* next, char const* config, DMatrixHandle* out);
XGB_DLL int XGImportArrowRecordBatch(DataIterHandle importer, void* batch, void* schema);
XGB_DLL int XGDeviceQuantileDMatrixCreateFromCallback(DataIterHandle iter, DMatrixHandle proxy,
                                                      DataIterResetCallback* reset, XGDMatrixCallbackNext* next,
                                                      float missing, int nthread, int max_bin, DMatrixHandle* out);
XGB_DLL int XGDMatrixSetGroup(DMatrixHandle data, unsigned const* group, bst_ulong n);

// Since 2.0.
XGB_DLL int XGDMatrixCreateFromCSC(char const* indptr, char const* indices, char const* values, bst_ulong rows,
                                   char const* config, DMatrixHandle* out);
// Since 2.1.
XGB_DLL int XGBoosterTrainOneIter(BoosterHandle booster, DMatrixHandle data, int iteration, char const* gradients,
                                  char const* hessians);
XGB_DLL int XGDMatrixCreateFromColumnar(char const* columns, char const* config, DMatrixHandle* out);
XGB_DLL int XGProxyDMatrixSetDataColumnar(DMatrixHandle proxy, char const* columns);
XGB_DLL int XGBoosterPredictFromColumnar(BoosterHandle booster, char const* columns, char const* config,
                                         DMatrixHandle info, bst_ulong const** shape, bst_ulong* dimensions,
                                         float const** out);
// Since 3.0.
XGB_DLL int XGBoosterReset(BoosterHandle booster);
XGB_DLL int XGExtMemQuantileDMatrixCreateFromCallback(DataIterHandle iter, DMatrixHandle proxy, DataIterHandle ref,
                                                      DataIterResetCallback* reset, XGDMatrixCallbackNext* next,
                                                      char const* config, DMatrixHandle* out);
// Since 3.2. No header has it.
XGB_DLL int XGBoosterTrainOneIterWithSplitGrad(BoosterHandle booster, DMatrixHandle data, int iteration,
                                               char const* split_gradients, char const* split_hessians,
                                               char const* value_gradients, char const* value_hessians);

// Programs for older versions connect workers with Rabit. XGBoost 1.7 exports its functions.
XGB_DLL bool RabitInit(int n, char* arguments[]);
XGB_DLL bool RabitFinalize();

}  // extern "C"

#endif  // XGBGPU_PLUGIN_XGB_OLDER_FUNCTIONS_H_
