# Which GPUs device code is compiled for. CMAKE_CUDA_ARCHITECTURES, if the user sets it, has the last word.
set(XGBGPU_CUDA_ARCHITECTURES release CACHE STRING
  "release: every supported GPU that the compiler knows; auto: the GPU of this machine, or as release if there is none; \
local: the GPU of this machine, or one architecture if there is none")

# Sets CMAKE_CUDA_ARCHITECTURES in the caller and says what that means; call it before enable_language(CUDA).
function(xgbgpu_choose_cuda_architectures compiler)
  if(CMAKE_CUDA_ARCHITECTURES)
    xgbgpu_say_cuda_architectures("as CMAKE_CUDA_ARCHITECTURES says" ${CMAKE_CUDA_ARCHITECTURES})
    return()
  endif()
  set(allowed release auto local)
  if(NOT XGBGPU_CUDA_ARCHITECTURES IN_LIST allowed)
    message(FATAL_ERROR "XGBGPU_CUDA_ARCHITECTURES is '${XGBGPU_CUDA_ARCHITECTURES}'; allowed: release, auto, local "
      "(a list of your own goes into CMAKE_CUDA_ARCHITECTURES)")
  endif()
  set(reason "every GPU that is supported")
  set(gpus "")
  if(NOT XGBGPU_CUDA_ARCHITECTURES STREQUAL "release")
    set(reason "no GPU was found here, so every GPU that is supported")
    find_program(nvidia_smi nvidia-smi NO_CACHE)
    if(nvidia_smi)
      execute_process(COMMAND ${nvidia_smi} -L OUTPUT_VARIABLE gpus ERROR_QUIET)
    endif()
  endif()
  if(gpus MATCHES "GPU 0")
    set(chosen native)
    set(reason "the GPU of this machine")
  elseif(XGBGPU_CUDA_ARCHITECTURES STREQUAL "local")
    set(chosen 75)  # the oldest: it lacks what newer ones have, and a release is compiled for all
    set(reason "no GPU was found here, so one architecture to try the build")
  else()
    # An old compiler does not know the newest. A driver compiles the PTX of the last one for GPUs made after it.
    execute_process(COMMAND ${compiler} --list-gpu-arch OUTPUT_VARIABLE known COMMAND_ERROR_IS_FATAL ANY)
    set(chosen "")
    foreach(number 75 80 86 89 90 100 120)
      if(known MATCHES "compute_${number}(\n|$)")
        list(APPEND chosen ${number}-real)
      endif()
    endforeach()
    list(TRANSFORM chosen REPLACE "-real" "" AT -1)
  endif()
  xgbgpu_say_cuda_architectures("${reason}" ${chosen})
  set(CMAKE_CUDA_ARCHITECTURES "${chosen}" PARENT_SCOPE)
endfunction()

function(xgbgpu_say_cuda_architectures reason)
  list(JOIN ARGN " " architectures)
  list(LENGTH ARGN count)
  xgbgpu_say_how_long(${count} "CUDA architectures: ${architectures} (${reason})")
endfunction()

# xgbgpu_say_how_long(<number of architectures> <what is built>): a build may take minutes; it says so at its beginning.
function(xgbgpu_say_how_long count what)
  # Seconds of one core: sources for the host, device code in any case, and for each architecture. Measured with GCC 12 and
  # CUDA 13 on a server's core.
  set(seconds 500)
  if(XGBGPU_UNITY)
    set(seconds 260)
  endif()
  if(count GREATER 0)
    math(EXPR seconds "${seconds} + 190 + 165 * ${count}")
  endif()
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR minutes "(${seconds} + 60 * ${cores} - 1) / (60 * ${cores})")
  message(STATUS "${what}. The library takes about ${minutes} min on all ${cores} cores")
endfunction()
