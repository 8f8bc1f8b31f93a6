# Everything that Tenon takes from outside, in one place.

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

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)
# xxHash is used as a header.
find_path(TENON_XXHASH_INCLUDE xxhash.h REQUIRED)
if(TENON_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(TENON_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
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
