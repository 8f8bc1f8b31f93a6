# tenon_add_library(NAME SOURCES... [LINK libs...])
#   A static library of Tenon that does not include MLIR headers.
function(tenon_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# The one precompiled header of the MLIR core (see cmake/MlirPch.h): a file that
# includes those headers takes 30 seconds without it and 4 with it.
function(tenon_define_mlir_pch)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/MlirPch.cpp"
       CONTENT "// Anchor of the precompiled header.\n")
  add_library(tenon-mlir-pch OBJECT "${CMAKE_BINARY_DIR}/MlirPch.cpp")
  target_precompile_headers(tenon-mlir-pch PRIVATE "${CMAKE_SOURCE_DIR}/cmake/MlirPch.h")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_custom_target(tenon-mlir-pch-sum)
    return()
  endif()
  # ccache keys an object on this checksum instead of the precompiled file, which
  # holds the paths of the folder that it was built in.
  set(pch "${CMAKE_BINARY_DIR}/CMakeFiles/tenon-mlir-pch.dir/cmake_pch.hxx.pch")
  set(includes ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  list(REMOVE_DUPLICATES includes)
  list(TRANSFORM includes PREPEND "-isystem")
  add_custom_command(
    OUTPUT "${pch}.sum"
    COMMAND ${CMAKE_COMMAND}
            "-DCOMPILER=${CMAKE_CXX_COMPILER};-std=c++20;${includes}"
            "-DHEADER=${CMAKE_SOURCE_DIR}/cmake/MlirPch.h" "-DOUTPUT=${pch}.sum"
            -P "${CMAKE_SOURCE_DIR}/cmake/PrecompiledHeaderSum.cmake"
    DEPENDS "${pch}" "${CMAKE_SOURCE_DIR}/cmake/PrecompiledHeaderSum.cmake"
    COMMENT "Checksum of the precompiled header"
    VERBATIM)
  add_custom_target(tenon-mlir-pch-sum DEPENDS "${pch}.sum")
endfunction()
if(NOT TENON_RUNTIME_ONLY)
  tenon_define_mlir_pch()
endif()

# The precompiled file is enough. CMake would also name the header, by an
# absolute path that ccache cannot make relative.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
endif()

# tenon_add_mlir_library(NAME SOURCES... [LINK libs...] [DEPENDS targets...])
#   A static library of Tenon on MLIR: shared precompiled header, libMLIR.so.
function(tenon_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_precompile_headers(${name} REUSE_FROM tenon-mlir-pch)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  add_dependencies(${name} tenon-mlir-pch-sum ${ARG_DEPENDS})
endfunction()

# tenon_add_unit_test(NAME SOURCES... [LINK libs...])
#   A GoogleTest program; lit runs it as part of check-unit.
function(tenon_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                        "${CMAKE_BINARY_DIR}/test/unit")
  set_property(GLOBAL APPEND PROPERTY TENON_UNIT_TESTS ${name})
endfunction()

# tenon_add_benchmark(NAME SOURCES... [LINK libs...])
function(tenon_add_benchmark name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} benchmark::benchmark)
  set_property(GLOBAL APPEND PROPERTY TENON_BENCHMARKS ${name})
endfunction()

# tenon_add_mlir_tool(NAME SOURCES... [LINK libs...])
#   An executable whose sources include MLIR headers. They are compiled as a
#   library, because the precompiled header is not one of an executable (-fPIE).
function(tenon_add_mlir_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  tenon_add_mlir_library(${name}-main ${ARG_UNPARSED_ARGUMENTS} LINK ${ARG_LINK})
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/${name}-anchor.cpp"
       CONTENT "// main is in a library.\n")
  add_executable(${name} "${CMAKE_BINARY_DIR}/${name}-anchor.cpp")
  target_link_libraries(${name} PRIVATE ${name}-main)
endfunction()
