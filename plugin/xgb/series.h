/// The series of XGBoost that this file is compiled for, and code that only some series have.
///
/// This file alone asks for the series with `#if` (docs/adr/0031-one-adapter-a-series.md). If two series differ by more
/// than a line, there is a pair of files, and CMake compiles one.
#ifndef XGBGPU_PLUGIN_XGB_SERIES_H_
#define XGBGPU_PLUGIN_XGB_SERIES_H_

#include <xgboost/version_config.h>

/// 100 times the major version, plus the minor one: 107 for 1.7.
#define XGBGPU_SERIES (100 * XGBOOST_VER_MAJOR + XGBOOST_VER_MINOR)

#ifdef XGBGPU_BUILT_SERIES  // the series of an adapter, for CMake
static_assert(XGBGPU_SERIES == XGBGPU_BUILT_SERIES,
              "headers of another XGBoost are found first: CPATH or CPLUS_INCLUDE_PATH may name their folder");
#endif

// XGBGPU_SINCE_304(code) is the code in series 3.4 and newer ones, and nothing before. XGBGPU_BEFORE_304(code) is the
// opposite.

#if XGBGPU_SERIES >= 300
#include <xgboost/context.h>
#define XGBGPU_SINCE_300(...) __VA_ARGS__
#define XGBGPU_BEFORE_300(...)
#else
#include <xgboost/generic_parameters.h>
#define XGBGPU_SINCE_300(...)
#define XGBGPU_BEFORE_300(...) __VA_ARGS__
#endif

#if XGBGPU_SERIES >= 302
#include <xgboost/gradient.h>
#define XGBGPU_SINCE_302(...) __VA_ARGS__
#define XGBGPU_BEFORE_302(...)
#else
#define XGBGPU_SINCE_302(...)
#define XGBGPU_BEFORE_302(...) __VA_ARGS__
#endif

#if XGBGPU_SERIES >= 303
#define XGBGPU_SINCE_303(...) __VA_ARGS__
#define XGBGPU_BEFORE_303(...)
#else
#define XGBGPU_SINCE_303(...)
#define XGBGPU_BEFORE_303(...) __VA_ARGS__
#endif

#if XGBGPU_SERIES >= 304
#define XGBGPU_SINCE_304(...) __VA_ARGS__
#define XGBGPU_BEFORE_304(...)
#else
#define XGBGPU_SINCE_304(...)
#define XGBGPU_BEFORE_304(...) __VA_ARGS__
#endif

#endif  // XGBGPU_PLUGIN_XGB_SERIES_H_
