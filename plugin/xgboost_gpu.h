/* The C interface of libxgboost_gpu.so. Loading the library is all that training with gpu_hist needs; these functions
 * only tell what was loaded. All may be called at any time, from any thread. */
#ifndef XGBGPU_PLUGIN_XGBOOST_GPU_H_
#define XGBGPU_PLUGIN_XGBOOST_GPU_H_

#define XGBGPU_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this library. Pointers may be null. */
XGBGPU_EXPORT void XGBGPUVersion(int* major, int* minor, int* patch);

/* What was built, as JSON; the text lives as long as the library is loaded. Does not touch any device.
 *   version             of this library
 *   xgboost_built       version of the XGBoost headers it was compiled with
 *   xgboost_running     version of the XGBoost it runs in
 *   registered          true if gpu_hist is available in that XGBoost
 *   why_not_registered  the reason if it is not, else ""
 *   cuda_architectures  GPUs that it has code for, for instance ["80", "90"]; [] if it was built without CUDA */
XGBGPU_EXPORT char const* XGBGPUBuildInfo(void);

/* What was found, as JSON, at the first call; the text lives as long as the library is loaded. Looking for devices
 * starts the CUDA driver, which processes forked from then on cannot use.
 *   backends     those that can be used now: ["cuda", "host"] or ["host"]
 *   why_no_cuda  the reason if "cuda" is not among them, else ""
 *   devices      in the order of gpu_id: [{"name": "NVIDIA H200", "architecture": 90, "memory": 150754820096}, …] */
XGBGPU_EXPORT char const* XGBGPUDeviceInfo(void);

/* The memory of every training of this process that lives, as JSON, oldest first; the text lives until this thread's
 * next call. A training lives with its booster and its matrix; two trainings on one matrix share its dataset. Numbers
 * are those of the end of its last round. Does not touch any device.
 *   backend         where it trains: "cuda" or "host"; what follows is memory of that device, or of the host
 *   device          gpu_id of the device; null on the host
 *   rows, columns   of its training matrix
 *   dataset_bytes   the quantised matrix
 *   training_bytes  what the training holds beside it
 *   peak_bytes      the most that training_bytes has been
 *   parts           training_bytes by what it is for: {"gradients": 9600, …} */
XGBGPU_EXPORT char const* XGBGPUMemoryReport(void);

#ifdef __cplusplus
}
#endif

#endif /* XGBGPU_PLUGIN_XGBOOST_GPU_H_ */
