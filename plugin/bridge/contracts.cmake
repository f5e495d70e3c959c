# What is made of contracts: the text in the bridge, and libraries that adapters are linked with.

# xgbgpu_embed_contracts(<folder> <file>): writes kContracts of contract.h.
function(xgbgpu_embed_contracts folder file)
  file(GLOB contracts CONFIGURE_DEPENDS ${folder}/*.txt)
  list(SORT contracts COMPARE NATURAL)
  string(CONCAT source "// The contracts of all series. Made by contracts.cmake.\n#include \"bridge/contract.h\"\n\n"
    "namespace xgbgpu::bridge {\n\nContractText const kContracts[] = {\n")
  foreach(contract IN LISTS contracts)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${contract})
    get_filename_component(series ${contract} NAME_WLE)
    file(READ ${contract} text)
    # Names are for the linker of adapters: the bridge looks into the adapter for what it needs.
    string(REGEX REPLACE "\nname [^\n]*" "" text "${text}")
    string(APPEND source "    {\"${series}\", R\"contract(${text})contract\"},\n")
  endforeach()
  string(APPEND source "    {nullptr, nullptr}};\n\n}  // namespace xgbgpu::bridge\n")
  file(CONFIGURE OUTPUT ${file} CONTENT "${source}" @ONLY)
endfunction()

# xgbgpu_add_stub_library(<target> <contract>): libxgb_bridge.so with the names of a contract and nothing behind them. An
# adapter that is linked with it and -Wl,--no-undefined uses no other name of XGBoost. The file is for the linker alone: in
# a process the bridge makes a table of addresses in its place.
function(xgbgpu_add_stub_library target contract)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${contract})
  set(assembly ".section .note.GNU-stack,\"\",@progbits\n.text\n")
  file(STRINGS ${contract} lines REGEX "^name ")
  foreach(line IN LISTS lines)
    string(SUBSTRING "${line}" 5 -1 name)
    string(APPEND assembly ".globl ${name}\n${name}:\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}/names.s)
  file(CONFIGURE OUTPUT ${source} CONTENT "${assembly}" @ONLY)
  set(library ${CMAKE_CURRENT_BINARY_DIR}/${target}/libxgb_bridge.so)
  add_custom_command(OUTPUT ${library} DEPENDS ${source} VERBATIM
    COMMAND ${CMAKE_CXX_COMPILER} -shared -nostdlib -Wl,-soname,libxgb_bridge.so -o ${library} ${source})
  add_custom_target(${target}_file DEPENDS ${library})
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${library} IMPORTED_SONAME libxgb_bridge.so)
  add_dependencies(${target} ${target}_file)
endfunction()
