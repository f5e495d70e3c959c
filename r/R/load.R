# Finds the library, loads it, and has the package xgboost call its functions.

LIBRARY <- "libxgboost_gpu.so.0"
VARIABLE <- "XGBGPU_LIBRARY"
ALLOWED <- "allowed: xgboost 1.7, of which 1.7.11.1 was CRAN's last release"

# library: the file that was loaded. bound: the file of the package xgboost, or why it does not use the library.
state <- new.env(parent = emptyenv())

.onLoad <- function(libname, pkgname) {
  if (nzchar(system.file(package = "xgboost"))) check_version()
  state$library <- load_library(file.path(libname, pkgname))
  state$bound <- "the package xgboost is not loaded"
  setHook(packageEvent("xgboost", "onLoad"), function(...) bind())  # also when it is loaded once more
  if (isNamespaceLoaded("xgboost")) bind()
}

check_version <- function() {
  version <- utils::packageVersion("xgboost")
  if (version[, 1:2] != "1.7") {
    stop(sprintf("xgboostgpu does not work with xgboost %s in '%s'; %s", version, system.file(package = "xgboost"), ALLOWED),
         call. = FALSE)
  }
}

# Loads the library for this package alone, and returns the file, or its bare name if the system's loader found it.
load_library <- function(package) {
  named <- Sys.getenv(VARIABLE)
  beside <- file.path(package, "libs", LIBRARY)
  if (nzchar(named) && !utils::file_test("-f", named)) {
    stop(sprintf("xgboostgpu: %s names '%s', which is not a file", VARIABLE, named), call. = FALSE)
  }
  path <- if (nzchar(named)) normalizePath(named) else if (file.exists(beside)) beside else LIBRARY
  why_not <- .Call(C_load, path)
  if (!nzchar(why_not)) return(path)
  if (path != LIBRARY) stop(sprintf("xgboostgpu cannot load '%s': %s", path, why_not), call. = FALSE)
  stop(sprintf("xgboostgpu cannot find %s. It looked for it in:\n", LIBRARY),
       sprintf("  - the environment variable %s, which is not set\n", VARIABLE),
       sprintf("  - beside the package: %s\n", beside),
       sprintf("  - the system's libraries: %s\n", why_not),
       "Run scripts/r-package of the source tree, which builds it and installs this package with it.", call. = FALSE)
}

# Has the package xgboost, which is loaded, call the library. R prints errors of a hook and goes on, so they say what is
# missing.
bind <- function() {
  tryCatch({
    check_version()
    built <- jsonlite::fromJSON(.Call(C_tell, "XGBGPUBuildInfo"))
    if (!built$registered) stop("xgboostgpu: gpu_hist was not registered: ", built$why_not_registered, call. = FALSE)
    file <- getLoadedDLLs()[["xgboost"]][["path"]]
    .Call(C_bind, file)
    state$bound <- file
  }, error = function(error) {
    state$bound <- conditionMessage(error)
    stop(conditionMessage(error), ". gpu_hist cannot be used", call. = FALSE)
  })
}
