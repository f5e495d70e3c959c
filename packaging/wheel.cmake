# What scikit-build-core puts into the wheel beside the Python modules. Files of the component `python` are in
# packaging/CMakeLists.txt; with XGBGPU_BUILT_IN they come from that build folder, and nothing is compiled here.
if(SKBUILD)
  install(PROGRAMS ${CMAKE_CURRENT_LIST_DIR}/xgboost-gpu DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
endif()
if(XGBGPU_BUILT_IN)
  add_custom_target(wheel_files COMMAND ${CMAKE_COMMAND} --build ${XGBGPU_BUILT_IN} --target wheel_files --parallel)
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --install \"${XGBGPU_BUILT_IN}\" --component python
    --prefix \"\${CMAKE_INSTALL_PREFIX}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT python)
endif()
