# Writes OUTPUT: a weak function for every name in FUNCTIONS, which says that it
# is not supported. Those that the stand-in has are strong and take their place.
file(STRINGS "${FUNCTIONS}" names REGEX "^[A-Za-z_]")
set(text "// Generated from functions.txt.\n#include \"runtime/HipStandIn/HipStandIn.h\"\n\nextern \"C\" {\n")
foreach(name ${names})
  string(APPEND text "__attribute__((weak)) int ${name}() {\n  return tenon::standin::unsupported(\"${name}\");\n}\n")
endforeach()
string(APPEND text "}\n")
file(WRITE "${OUTPUT}" "${text}")
