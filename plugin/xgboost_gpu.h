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

/* What was built and what was found, as JSON; the text lives as long as the library is loaded.
 *   version             of this library
 *   xgboost_built       version of the XGBoost headers it was compiled with
 *   xgboost_running     version of the XGBoost it runs in
 *   registered          true if gpu_hist is available in that XGBoost
 *   why_not_registered  the reason if it is not, else ""
 *   backends            those that can be used now, for instance ["host"]
 *   why_no_cuda         the reason if "cuda" is not among them, else "" */
XGBGPU_EXPORT char const* XGBGPUBuildInfo(void);

#ifdef __cplusplus
}
#endif

#endif /* XGBGPU_PLUGIN_XGBOOST_GPU_H_ */
