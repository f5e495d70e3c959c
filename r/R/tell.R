# What the library tells of itself and of trainings.

build_info <- function() {
  told <- lapply(c("XGBGPUBuildInfo", "XGBGPUDeviceInfo"), function(name) jsonlite::fromJSON(.Call(C_tell, name)))
  c(do.call(c, told), list(library = state$library, bound = state$bound))
}

memory_report <- function() {
  jsonlite::fromJSON(.Call(C_tell, "XGBGPUMemoryReport"), simplifyVector = FALSE)
}
