# Compiles through ccache when it is there; include before project(). The
# settings are part of the launcher, so that they hold however a build is
# started. A launcher that is already set (command line, preset) stays.
#   SLOPPINESS  ccache reuses objects built with a precompiled header only when
#               told that its macros are constants of the build, and headers
#               that TableGen has just written only when told so.
#   BASEDIR     absolute paths below the source root do not enter the key: a
#               clone in another folder finds what the first one built.
#   NOHASHDIR   the same for the working directory (objects with -g).
#   PCH_EXTSUM  objects are keyed on a checksum of the precompiled header's text
#               (PrecompiledHeaderSum.cmake), which is the same in every folder.
find_program(TENON_CCACHE ccache)
if(TENON_CCACHE)
  foreach(language C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER
          "${CMAKE_COMMAND}" -E env
          CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
          "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
          CCACHE_NOHASHDIR=1
          CCACHE_PCH_EXTSUM=1
          "${TENON_CCACHE}" CACHE STRING "Compiler launcher of ${language}")
    endif()
  endforeach()
endif()
