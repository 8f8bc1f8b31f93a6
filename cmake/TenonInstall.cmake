# What `cmake --install` installs, by component:
#   runtime      libtenon_runtime.so, for programs that call kernels
#   simulator    libtenon_sim.so, which the runtime opens for the device "sim", and
#                HIP on it: libtenon_hip.so, in hip-stand-in as libamdhip64
#   development  headers, and the files for find_package(Tenon) and pkg-config
#   tools        the programs tenon and tenon-opt, and the specs of deployments
#   compiler-wheel, simulator-wheel
#                what the wheels of python/packages hold
# The files of the runtime wheel are a component of their own too (python/).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

target_include_directories(tenon_runtime INTERFACE
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
set_target_properties(tenon_runtime PROPERTIES EXPORT_NAME runtime)
install(TARGETS tenon_runtime EXPORT TenonTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
  NAMELINK_COMPONENT development)
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

# LLVM stays where it is.
foreach(user tenon_sim tenon tenon-opt)
  if(TARGET ${user})
    set_target_properties(${user} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
endforeach()

if(TARGET tenon_sim)
  install(TARGETS tenon_sim
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT simulator)
  install(TARGETS tenon_hip
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT simulator)
  install(DIRECTORY "${CMAKE_BINARY_DIR}/lib/hip-stand-in"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT simulator)
endif()

if(TARGET tenon-selftest)
  set_target_properties(tenon-selftest PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()
foreach(tool tenon tenon-opt tenon-selftest)
  if(TARGET ${tool})
    install(TARGETS ${tool}
      RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
  endif()
endforeach()
if(TARGET tenon)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/kernels_spec"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/tenon" COMPONENT tools)
endif()

if(TARGET tenon_sim)
  install(TARGETS tenon_sim LIBRARY DESTINATION tenon
          COMPONENT simulator-wheel EXCLUDE_FROM_ALL)
endif()
# A wheel brings the libraries of its programs along, but for those of C and C++.
# DT_RPATH, which unlike DT_RUNPATH counts for what these libraries load too.
if(TARGET tenon)
  set_target_properties(tenon PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  target_link_options(tenon PRIVATE LINKER:--disable-new-dtags)
  set(wheel tenon_compiler)
  install(TARGETS tenon RUNTIME DESTINATION ${wheel}/bin
          COMPONENT compiler-wheel EXCLUDE_FROM_ALL)
  install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" DESTINATION ${wheel}
          COMPONENT compiler-wheel EXCLUDE_FROM_ALL)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/kernels_spec" DESTINATION ${wheel}
          COMPONENT compiler-wheel EXCLUDE_FROM_ALL)
  install(CODE "
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES \"$<TARGET_FILE:tenon>\"
      RESOLVED_DEPENDENCIES_VAR libraries
      PRE_EXCLUDE_REGEXES \"^ld-linux\" \"^lib(c|m|dl|rt|pthread|stdc\\\\+\\\\+|gcc_s)\\\\.so\")
    foreach(library \${libraries})
      # By the name that is loaded: a wheel has no symbolic links.
      cmake_path(GET library FILENAME name)
      file(REAL_PATH \"\${library}\" file)
      file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${wheel}/lib\"
           TYPE FILE RENAME \"\${name}\" FILES \"\${file}\")
    endforeach()"
    COMPONENT compiler-wheel EXCLUDE_FROM_ALL)
endif()

install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/tenon-c"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
set(TENON_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Tenon")
install(EXPORT TenonTargets NAMESPACE Tenon::
  DESTINATION "${TENON_PACKAGE_DIR}" COMPONENT development)
configure_package_config_file("${CMAKE_SOURCE_DIR}/cmake/TenonConfig.cmake.in"
  "${CMAKE_BINARY_DIR}/packaging/TenonConfig.cmake"
  INSTALL_DESTINATION "${TENON_PACKAGE_DIR}")
# Before 1.0 a minor release may change the interface
# (docs/reference/compatibility.md).
write_basic_package_version_file(
  "${CMAKE_BINARY_DIR}/packaging/TenonConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/packaging/TenonConfig.cmake"
              "${CMAKE_BINARY_DIR}/packaging/TenonConfigVersion.cmake"
  DESTINATION "${TENON_PACKAGE_DIR}" COMPONENT development)

# Relative to where the file lies, so that an installed tree may be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
  OUTPUT_VARIABLE TENON_PC_PREFIX)
configure_file("${CMAKE_SOURCE_DIR}/cmake/tenon.pc.in"
  "${CMAKE_BINARY_DIR}/packaging/tenon.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/packaging/tenon.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
