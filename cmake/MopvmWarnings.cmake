# SPDX-License-Identifier: MIT
# The warnings that the project's own targets are built with.

# mopvm_warnings(<target>): warnings for the sources of <target> alone. They become errors where
# CMAKE_COMPILE_WARNING_AS_ERROR is on, as in all presets, and nowhere else.
function(mopvm_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall
    -Wextra
    -Wpedantic
    -Wconversion
    -Wsign-conversion
    -Wshadow
    -Wold-style-cast
  )
  # g++ 12 sees overlapping copies in its own std::string operator+ (its bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
endfunction()
