# A wheel of what was built already: it installs a component of the build folder of
# Tenon (cmake/TenonInstall.cmake) and compiles nothing.
set(TENON_BUILD "${CMAKE_CURRENT_LIST_DIR}/../../build" CACHE PATH
    "Build folder of Tenon")

# tenon_wheel(COMPONENT FILE): FILE, in the build folder, tells that it was built.
function(tenon_wheel component file)
  if(NOT EXISTS "${TENON_BUILD}/${file}")
    message(FATAL_ERROR
      "there is no ${file} in ${TENON_BUILD}: this wheel packs a build of Tenon. "
      "Run tools/setup.sh first, or name another build folder with "
      "pip's -C cmake.define.TENON_BUILD=FOLDER")
  endif()
  install(CODE "
    execute_process(
      COMMAND \"${CMAKE_COMMAND}\" --install \"${TENON_BUILD}\"
              --component ${component} --prefix \"\${CMAKE_INSTALL_PREFIX}\"
      COMMAND_ERROR_IS_FATAL ANY)")
endfunction()
