# Installs this package's own library. Beside it go libxgboost_gpu.so.0 and its engine: those that XGBGPU_LIBRARY names, or
# the ones that the source tree has built last. Without either the system's loader finds them when the package is loaded.
folder <- file.path(R_PACKAGE_DIR, paste0("libs", R_ARCH))
dir.create(folder, recursive = TRUE, showWarnings = FALSE)
copy <- function(from, name) {
  if (!file.copy(from, file.path(folder, name), overwrite = TRUE)) stop("cannot copy '", from, "' to ", folder)
}
for (file in Sys.glob(paste0("*", SHLIB_EXT))) copy(file, file)

built <- Sys.getenv("XGBGPU_LIBRARY")
if (!nzchar(built)) {
  built <- Sys.glob(file.path(R_PACKAGE_SOURCE, "..", "build", "*", "lib", "libxgboost_gpu.so"))
  built <- built[order(file.mtime(built), decreasing = TRUE)]
}
if (length(built) > 0) {
  copy(built[1], "libxgboost_gpu.so.0")
  copy(file.path(dirname(built[1]), "libxgbgpu.so.0"), "libxgbgpu.so.0")
}
