/* The C interface of libxgbgpu_bridge.so, which brings an adapter of xgboost-gpu into an XGBoost that the process has
 * loaded, whether that shows its C++ names or not (docs/adr/0031-one-adapter-a-series.md). Functions may be called from
 * any thread. */
#ifndef XGBGPU_PLUGIN_BRIDGE_XGBGPU_BRIDGE_H_
#define XGBGPU_PLUGIN_BRIDGE_XGBGPU_BRIDGE_H_

#define XGBGPU_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Checks an XGBoost of this process, loads the adapter of its series, and has it register its parts there. A second call
 * for the same XGBoost does nothing. One XGBoost of a process can have an adapter. Nothing is registered after an error.
 *   xgboost  the libxgboost, by a name that dlopen takes; null: the only one that the process has loaded
 *   folder   where the adapters are: libxgboost_gpu-3.4.so for series 3.4. The engine lies there or in its parent
 *   adapter  out, may be null: the path of the loaded adapter; the text lives as long as the process
 * Returns 0; or -1, and XGBGPUBridgeError() says why. */
XGBGPU_EXPORT int XGBGPUBridgeLoad(char const* xgboost, char const* folder, char const** adapter);

/* Does the same without a trial in a child process of releases that no contract names: this is the child's call. */
XGBGPU_EXPORT int XGBGPUBridgeTry(char const* xgboost, char const* folder, char const** adapter);

/* Why this thread's last call failed. The text lives until its next call. */
XGBGPU_EXPORT char const* XGBGPUBridgeError(void);

#ifdef __cplusplus
}
#endif

#endif /* XGBGPU_PLUGIN_BRIDGE_XGBGPU_BRIDGE_H_ */
