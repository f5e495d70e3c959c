/* The C interface of libxgboost_gpu.so. Loading the library is all that training with gpu_hist needs; these functions
 * tell what was loaded, read tables, and encode categories. All may be called at any time, from any thread. The engine,
 * libxgbgpu.so.0, lies beside the library. */
#ifndef XGBGPU_PLUGIN_XGBOOST_GPU_H_
#define XGBGPU_PLUGIN_XGBOOST_GPU_H_

#include <stdint.h>

#define XGBGPU_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this library. Pointers may be null. */
XGBGPU_EXPORT void XGBGPUVersion(int* major, int* minor, int* patch);

/* Returns facts about the build, as JSON; the text lives as long as the library is loaded. Does not touch any device.
 *   version             of this library
 *   xgboost_built       version of the XGBoost headers it was compiled with
 *   xgboost_running     version of the XGBoost it runs in
 *   registered          true if gpu_hist is available in that XGBoost
 *   why_not_registered  the reason if it is not, else ""
 *   cuda_architectures  GPUs that it has code for, for instance ["80", "90"]; [] if it was built without CUDA
 *   gpus_of_a_process   how GPUs of one process (n_gpus) exchange sums; "" if built without CUDA
 *   gpus_of_processes   the same for workers of a process group */
XGBGPU_EXPORT char const* XGBGPUBuildInfo(void);

/* Returns the devices found at the first call, as JSON; the text lives as long as the library is loaded. The search
 * starts the CUDA driver. Processes forked from then on cannot use it.
 *   backends     usable backends: ["cuda", "host"] or ["host"]
 *   why_no_cuda  the reason if "cuda" is not among them, else ""
 *   devices      in the order of gpu_id: [{"name": "NVIDIA H200", "architecture": 90, "memory": 150754820096}, …]
 *   nccl         what GPUs of workers on several hosts would use: "2.28.9 from /usr/lib/libnccl.so.2"; "" if it is not
 *                here
 *   why_no_nccl  the reason if it is not, else "" */
XGBGPU_EXPORT char const* XGBGPUDeviceInfo(void);

/* Returns the memory of every living training of this process, as JSON, oldest first. The text lives until this
 * thread's next call. A training lives with its booster and its matrix. Two trainings on one matrix share its dataset.
 * Numbers are from the end of the training's last round. Does not touch any device.
 *   backend         where it trains: "cuda" or "host"; what follows is memory of that device, or of the host
 *   device          gpu_id of the device, the first of several; null on the host
 *   devices         number of devices of this process that have its rows; 0 on the host
 *   rows, columns   of its training matrix
 *   dataset_bytes   the quantised matrix
 *   array_bytes     on a device: all copies of arrays that matrices of this process hold there; 0 on the host
 *   training_bytes  what the training holds beside it
 *   peak_bytes      the most that training_bytes has been
 *   parts           training_bytes by what it is for: {"gradients": 9600, …}
 *   pages           null: the bins are in core. Else {"count": 16, "on_device": 3, "memory_bytes": …, "file_bytes": …,
 *                   "copied_bytes": …}: pages of bins, how many stay where the training takes place, where they lie,
 *                   and bytes that have been copied from there so far */
XGBGPU_EXPORT char const* XGBGPUMemoryReport(void);

/* The names of XGBoost's functions that this library has, too, as a JSON list; the text lives as long as the library is
 * loaded. Each function notes or checks something and calls XGBoost's. A program that finds XGBoost's functions first
 * calls ours by these names instead. */
XGBGPU_EXPORT char const* XGBGPUFunctionsInFront(void);

/* Has gpu_hist train in the place of XGBoost's `hist` with device=cuda, in this process and from the next parameter that is
 * set in a booster on; 0: no more. Before the first call the environment variable XGBGPU_TAKE_HIST says so: 1 or 0. */
XGBGPU_EXPORT void XGBGPUTakeHist(int takes);

/* Announces the use of the QuantileDMatrices without `ref` that this thread makes from now on: one training each, with
 * these parameters, and no other reader. An array on the host is then binned where it lies as the matrix is made. No
 * value of it is kept. A matrix that would need a copy of its values is refused.
 *
 *   parameters  texts by name, a JSON object; null: no more
 *   on_host     1: where the training is on the host, too; 0: on a GPU alone
 *   is_told     gets 1 if it will be so; 0 where the training is elsewhere, on several GPUs, or needs the values
 *
 * Returns 0; or -1, and XGBGetLastError() says why. */
XGBGPU_EXPORT int XGBGPUBinAtOnce(char const* parameters, int on_host, int* is_told);

/* Reads a table (polars, pyarrow, …) that a producer hands over as a `struct ArrowArrayStream` of the Arrow C stream
 * interface, and writes its values row by row, NaN where one is null. The stream is released, also after an error.
 * Returns 0 and `*table`, which XGBGPUTableFree frees; or -1, and XGBGetLastError() says why.
 *   config  JSON, all keys with defaults:
 *     values      "features" (default): numbers of 4 bytes. "info", for labels, weights and the like: numbers of 8
 *                 bytes, no categories, and a plain array is a table of one column
 *     categories  whether columns with dictionaries are allowed (default: false)
 *     nthread     0 or less (default): all */
XGBGPU_EXPORT int XGBGPUTableRead(void* stream, char const* config, void** table);

/* Returns the contents of a table, as JSON; the text lives as long as the table.
 *   rows, columns
 *   names   of the columns
 *   types   of the columns, as XGBoost's feature types: "int", "float", "i" (truth values), "c" (categories)
 *   values  address of the values, [rows, columns], row by row; 0 if XGBGPUTableToDMatrix took them */
XGBGPU_EXPORT char const* XGBGPUTableDescribe(void const* table);

/* Makes a DMatrix of a table of features, whose values it takes. `config`: as XGDMatrixCreateFromDense has it. Names
 * and types are the caller's to set. Returns 0 and a DMatrixHandle; or -1, and XGBGetLastError() says why. */
XGBGPU_EXPORT int XGBGPUTableToDMatrix(void* table, char const* config, void** matrix);

/* Frees a table. Null is allowed. Matrices that were made of it stay. */
XGBGPU_EXPORT void XGBGPUTableFree(void* table);

/* Gives each of `n` keys, at most 2^32 - 2, its place among the distinct keys, ascending. `distinct`: their number.
 * `codes`: room for n. `nthread`: 0 or less: all. No array may be null. Returns 0; or -1, and XGBGetLastError() says
 * why. */
XGBGPU_EXPORT int XGBGPUNumberKeys(uint64_t const* keys, uint64_t n, int nthread, uint32_t* codes, uint64_t* distinct);

/* Gives each of `n` keys its place among the `known_n` ascending keys `known`. A key that is not known gets known_n.
 * Both numbers are at most 2^32 - 2. No array may be null. Returns 0; or -1, and XGBGetLastError() says why. */
XGBGPU_EXPORT int XGBGPUFindKeys(uint64_t const* keys, uint64_t n, uint64_t const* known, uint64_t known_n, int nthread,
                                 uint32_t* codes);

/* Sums targets by category, and writes ordered target statistics: for a row (s u + a p) / (n v + a), s and n the sums
 * of `values` and `weights` over the rows of its category that come earlier in an order. The numbers have the same bits
 * for any number of threads and on either backend. Arrays are row by row without gaps, in the memory of the host, or of
 * the device if the backend is cuda. Returns 0; or -1, and XGBGetLastError() says why.
 *   config  JSON:
 *     rows, categories, targets   at most 2^32 - 2, 2^32 - 2 and 2^31 - 1
 *     value_unit, weight_unit   u and v: what an integer of `values` and `weights` is worth; powers of two
 *     prior_weight, priors      a, above 0, and p, a list of a number for each target
 *     order                     "given": the rows' own. "shuffled": by the numbers `seed` and `number`
 *     row_stride                floats from the statistics of a row to those of the next
 *     nthread                   0 or less: all
 *     gpu_backend, gpu_id       "host" or "cuda", and which device
 *   codes          [rows] of categories, below `categories`
 *   values         [targets, rows] of integers, target times weight. They are at most 2^62 / rows
 *   weights        [rows] of integers from 0 to 2^62 / rows; null: all are 1
 *   statistics     [rows, targets], rows row_stride apart; null: sums alone
 *   total_values   [targets, categories]: sums of all rows
 *   total_weights  [categories] */
XGBGPU_EXPORT int XGBGPUOrderTargets(char const* config, uint32_t const* codes, int64_t const* values,
                                     int64_t const* weights, float* statistics, int64_t* total_values,
                                     int64_t* total_weights);

#ifdef __cplusplus
}
#endif

#endif /* XGBGPU_PLUGIN_XGBOOST_GPU_H_ */
