# Libraries of headers alone, which every target may include and no program links: xxHash and Random123.

# xgbgpu_find_header(<variable> <library> <header> <Debian package>): sets <variable> to the folder of <header>.
function(xgbgpu_find_header variable library header package)
  find_path(${variable} ${header} HINTS ENV CPATH)
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "The library ${library} is not installed; on Debian: apt install ${package}")
  endif()
endfunction()

xgbgpu_find_header(XGBGPU_XXHASH_INCLUDE_DIR "xxHash (0.8)" xxhash.h libxxhash-dev)
xgbgpu_find_header(XGBGPU_RANDOM123_INCLUDE_DIR Random123 Random123/philox.h librandom123-dev)
