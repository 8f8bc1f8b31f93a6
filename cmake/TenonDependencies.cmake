# Everything that Tenon takes from outside, in one place.

if(NOT TENON_RUNTIME_ONLY)
  # Debian keeps LLVM 22 in a folder that CMake does not search by itself.
  # TENON_LLVM_PREFIX names any other installation (tools/setup.sh --no-root).
  set(TENON_LLVM_PREFIX "/usr/lib/llvm-22" CACHE PATH
      "Root of the LLVM 22 installation (with MLIR and LLD)")
  find_package(MLIR 22.1 REQUIRED CONFIG
               HINTS "${TENON_LLVM_PREFIX}/lib/cmake/mlir")
  find_package(LLD REQUIRED CONFIG HINTS "${TENON_LLVM_PREFIX}/lib/cmake/lld")
  message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

  list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)

  include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  separate_arguments(TENON_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  add_definitions(${TENON_LLVM_DEFINITIONS})
endif()

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
# A wheel brings its own copy of the little that the runtime takes of it.
if(TENON_RUNTIME_ONLY)
  set(OPENSSL_USE_STATIC_LIBS ON)
endif()
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)
# xxHash is used as a header.
find_path(TENON_XXHASH_INCLUDE xxhash.h REQUIRED)
if(TENON_RUNTIME_ONLY)
  if(TENON_RUNTIME_TESTS)
    find_package(GTest REQUIRED)
  endif()
else()
  find_package(CLI11 REQUIRED)
  if(TENON_BUILD_TESTS)
    find_package(GTest REQUIRED)
  endif()
  if(TENON_BUILD_BENCHMARKS)
    find_package(benchmark REQUIRED)
  endif()
endif()

# The Python package needs an interpreter that has nanobind. tools/setup.sh puts
# one into the build folder; Python_EXECUTABLE names any other.
if(TENON_BUILD_PYTHON)
  set(environment "${CMAKE_BINARY_DIR}/python-env/bin/python")
  if(NOT DEFINED Python_EXECUTABLE AND EXISTS "${environment}")
    set(Python_EXECUTABLE "${environment}" CACHE FILEPATH
        "Interpreter of the Python package")
  endif()
  set(Python_FIND_VIRTUALENV FIRST)
  find_package(Python 3.11 COMPONENTS Interpreter Development.Module
               OPTIONAL_COMPONENTS Development.SABIModule)
  if(Python_FOUND)
    execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
      OUTPUT_VARIABLE TENON_NANOBIND_DIR OUTPUT_STRIP_TRAILING_WHITESPACE
      ERROR_QUIET)
  endif()
  if(NOT TENON_NANOBIND_DIR)
    set(reason "no Python from 3.11 on with its headers and nanobind was found")
    if(TENON_RUNTIME_ONLY)
      message(FATAL_ERROR "${reason}")
    endif()
    message(STATUS "${reason}: the Python package is not built")
    set(TENON_BUILD_PYTHON OFF)
  endif()
endif()

if(NOT TENON_RUNTIME_ONLY AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(WARNING "Tenon is built and tested with clang 22; "
                  "${CMAKE_CXX_COMPILER_ID} may be slow or fail")
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wimplicit-fallthrough -Wno-deprecated-declarations
                    -fno-semantic-interposition)
# What ccache needs to reuse objects built with a precompiled header.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  add_link_options(-fuse-ld=lld)
endif()
