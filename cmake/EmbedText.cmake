# Writes the text file INPUT as a C++ string constant NAME into OUTPUT.
file(READ "${INPUT}" text)
# A raw string may be at most 64 KiB in some compilers; the pages are smaller.
file(WRITE "${OUTPUT}"
     "// Generated from ${NAME}.\nstatic constexpr char ${NAME}[] = R\"page(${text})page\";\n")
