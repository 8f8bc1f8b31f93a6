# Writes into OUTPUT a checksum of everything that HEADER brings in (text and
# macros, no paths). COMPILER is the compiler and its flags, as a list.
execute_process(
  COMMAND ${COMPILER} -x c++-header -E -P -dD "${HEADER}"
  OUTPUT_FILE "${OUTPUT}.text"
  COMMAND_ERROR_IS_FATAL ANY)
file(SHA256 "${OUTPUT}.text" sum)
file(REMOVE "${OUTPUT}.text")
file(WRITE "${OUTPUT}" "${sum}\n")
