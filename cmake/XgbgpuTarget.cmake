# What every target of the project has in common.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# xgbgpu_unite_folders(<target> [<folder> ...]): with XGBGPU_UNITY the C++ files of each folder but the named ones are
# compiled as one file, which takes half of the time. So a name in an anonymous namespace, with the same parameters,
# is there once in a folder. Files that the target gets later, and files with options of their own, are compiled by
# themselves.
function(xgbgpu_unite_folders target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${XGBGPU_UNITY} UNITY_BUILD_MODE GROUP)
  if(XGBGPU_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The file that is compiled includes the others, so their anonymous namespaces look like those of a header.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cc$")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    if(NOT folder IN_LIST ARGN)
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder})
    endif()
  endforeach()
endfunction()

# xgbgpu_target(<target>): C++17, libraries of headers, warnings, hidden symbols, sanitizer, and arithmetic that is the same everywhere:
# without -ffp-contract=off a compiler may fuse a*b+c on one backend and not on the other (docs/determinism.md).
function(xgbgpu_target target)
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_include_directories(${target} SYSTEM PRIVATE ${XGBGPU_XXHASH_INCLUDE_DIR} ${XGBGPU_RANDOM123_INCLUDE_DIR})
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON
    CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_VISIBILITY_PRESET hidden CUDA_RUNTIME_LIBRARY Static)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:
    -Wall -Wextra -Wshadow -Wnon-virtual-dtor -ffp-contract=off -fno-semantic-interposition
    $<$<BOOL:${XGBGPU_WERROR}>:-Werror>>)
  # Device code: --fmad=false is -ffp-contract=off; the host side of .cu files gets the switches of .cc files
  # that code which nvcc makes passes. Without numbers of 16 bits cub's headers, which make up most of the time that device
  # code compiles, are a fifth shorter.
  # Compressed, device code takes a quarter of the room or less. Each driver that CUDA 13 runs on unpacks it.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:
    --fmad=false --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-ffp-contract=off,-fno-semantic-interposition -DCCCL_DISABLE_FP16_SUPPORT
    $<$<VERSION_GREATER_EQUAL:$<CUDA_COMPILER_VERSION>,13>:--compress-mode=size>
    $<$<BOOL:${XGBGPU_WERROR}>:-Werror=all-warnings>>)
  if(XGBGPU_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  elseif(XGBGPU_SANITIZE STREQUAL "thread")
    target_compile_options(${target} PRIVATE -fsanitize=thread -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=thread)
  elseif(XGBGPU_SANITIZE)
    message(FATAL_ERROR "XGBGPU_SANITIZE is '${XGBGPU_SANITIZE}'; allowed: address, thread, or empty")
  endif()
endfunction()
