# Finds the XGBoost that is to be extended: its headers and those of dmlc-core, libxgboost, and libdmlc if it is there.
#
#   XGBOOST_HOST_DIR (environment or cache)   a folder with include/ and lib/
#
# CMAKE_PREFIX_PATH, that folder, the compiler's own CPATH and LIBRARY_PATH, and the system's folders are looked into, in
# this order.
# Defines the target XGBoostHost::xgboost, and XGBoostHost_VERSION.
set(XGBOOST_HOST_DIR "$ENV{XGBOOST_HOST_DIR}" CACHE PATH "Folder with include/ and lib/ of the XGBoost to extend")
cmake_path(CONVERT "$ENV{CPATH}:$ENV{CPLUS_INCLUDE_PATH}" TO_CMAKE_PATH_LIST include_hints)
cmake_path(CONVERT "$ENV{LIBRARY_PATH}" TO_CMAKE_PATH_LIST library_hints)
if(XGBOOST_HOST_DIR)
  list(PREPEND include_hints ${XGBOOST_HOST_DIR}/include)
  list(PREPEND library_hints ${XGBOOST_HOST_DIR}/lib ${XGBOOST_HOST_DIR}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()

find_path(XGBoostHost_INCLUDE_DIR xgboost/tree_updater.h HINTS ${include_hints})
find_path(XGBoostHost_DMLC_INCLUDE_DIR dmlc/registry.h HINTS ${include_hints})
# A bundle made from a runtime package has no unversioned name.
foreach(library xgboost dmlc)
  string(TOUPPER ${library} upper)
  find_library(XGBoostHost_${upper}_LIBRARY NAMES ${library} lib${library}.so.0 NAMES_PER_DIR HINTS ${library_hints})
endforeach()

if(XGBoostHost_INCLUDE_DIR AND EXISTS ${XGBoostHost_INCLUDE_DIR}/xgboost/version_config.h)
  file(STRINGS ${XGBoostHost_INCLUDE_DIR}/xgboost/version_config.h version_lines REGEX "define XGBOOST_VER_")
  string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+).*" "\\1.\\2.\\3"
    XGBoostHost_VERSION "${version_lines}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XGBoostHost
  REQUIRED_VARS XGBoostHost_XGBOOST_LIBRARY XGBoostHost_INCLUDE_DIR XGBoostHost_DMLC_INCLUDE_DIR XGBoostHost_VERSION
  VERSION_VAR XGBoostHost_VERSION
  REASON_FAILURE_MESSAGE "on Debian: apt install libxgboost-dev libdmlc-dev, elsewhere: set XGBOOST_HOST_DIR")

if(XGBoostHost_FOUND)
  set(known_series 1.7 3.0 3.2 3.3 3.4)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" found_series ${XGBoostHost_VERSION})
  if(NOT found_series IN_LIST known_series)
    list(JOIN known_series ", " known_series)
    message(FATAL_ERROR "XGBoost ${XGBoostHost_VERSION} found in ${XGBoostHost_INCLUDE_DIR}; allowed: ${known_series}")
  endif()
  if(NOT TARGET XGBoostHost::xgboost)
    add_library(XGBoostHost::xgboost UNKNOWN IMPORTED)
    set_target_properties(XGBoostHost::xgboost PROPERTIES
      IMPORTED_LOCATION ${XGBoostHost_XGBOOST_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES "${XGBoostHost_INCLUDE_DIR};${XGBoostHost_DMLC_INCLUDE_DIR}")
    # What its headers need of dmlc-core; a library that has dmlc-core inside comes without libdmlc.
    if(XGBoostHost_DMLC_LIBRARY)
      set_target_properties(XGBoostHost::xgboost PROPERTIES INTERFACE_LINK_LIBRARIES ${XGBoostHost_DMLC_LIBRARY})
    endif()
  endif()
endif()
mark_as_advanced(XGBoostHost_INCLUDE_DIR XGBoostHost_DMLC_INCLUDE_DIR XGBoostHost_XGBOOST_LIBRARY
  XGBoostHost_DMLC_LIBRARY)
