//! The package files of a library for CMake: `find_package(NAME)` gives the target `NAME::NAME`,
//! and `find_package(NAME 0.1)` compares versions.

use super::library::Sources;

/// The files: names and texts, which refer to the folder that contains them.
pub(crate) fn files(sources: &Sources) -> [(String, String); 2] {
    let library = &sources.library;
    let source = library.source.replace('\n', " ");
    let head = format!("# Made by Lambada {} from {source}.\n", env!("CARGO_PKG_VERSION"));
    let is_text = library.platform.is_strict();
    let text = if is_text { FROM_SOURCE } else { IMPORTED };
    let version = VERSION.replace("@", env!("CARGO_PKG_VERSION"));
    let fits = if is_text { "" } else { SAME_MACHINE };
    [
        (format!("{}Config.cmake", library.name), head.clone() + &text.replace('@', &library.name)),
        (format!("{}ConfigVersion.cmake", library.name), head + &version + fits),
    ]
}

/// Compares the version of the package, which is that of Lambada as in `NAME.pc`, with the wanted
/// one: a later one of the same major version serves, before 1.0 of the same minor version.
const VERSION: &str = "\
set(PACKAGE_VERSION \"@\")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
string(REGEX MATCH \"^(0[.])?[0-9]+\" series \"${PACKAGE_VERSION}\")
string(REGEX MATCH \"^(0[.])?[0-9]+\" wanted \"${PACKAGE_FIND_VERSION}\")
if(PACKAGE_FIND_VERSION_RANGE)
  if(PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION_MIN AND (PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MAX
      OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL \"INCLUDE\" AND PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION_MAX)))
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  endif()
elseif(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  set(PACKAGE_VERSION_EXACT TRUE)
elseif(PACKAGE_VERSION VERSION_GREATER PACKAGE_FIND_VERSION AND (series STREQUAL wanted OR series MATCHES \"^${wanted}[.]\"))
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
";

/// Machine code is for projects with addresses of 64 bits; where no language is enabled, the width
/// is not known.
const SAME_MACHINE: &str = "\
if(CMAKE_SIZEOF_VOID_P AND NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(PACKAGE_VERSION_UNSUITABLE TRUE)
endif()
";

const IMPORTED: &str = "\
#
#   find_package(@ CONFIG REQUIRED PATHS folder)
#   target_link_libraries(program PRIVATE @::@)  # or @::shared

if(NOT TARGET @::@)
  add_library(@::@ STATIC IMPORTED)
  set_target_properties(@::@ PROPERTIES
    IMPORTED_LOCATION \"${CMAKE_CURRENT_LIST_DIR}/lib@.a\"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES \"${CMAKE_CURRENT_LIST_DIR}\"
    INTERFACE_LINK_LIBRARIES m)
  add_library(@::shared SHARED IMPORTED)
  set_target_properties(@::shared PROPERTIES
    IMPORTED_LOCATION \"${CMAKE_CURRENT_LIST_DIR}/lib@${CMAKE_SHARED_LIBRARY_SUFFIX}\"
    INTERFACE_INCLUDE_DIRECTORIES \"${CMAKE_CURRENT_LIST_DIR}\")
endif()
";

/// Compiles the library with the compiler of the project, which may be one for another machine.
/// Integers wrap, and floating point is strict but for the contraction of products and sums.
const FROM_SOURCE: &str = "\
#
#   find_package(@ CONFIG REQUIRED PATHS folder)
#   target_link_libraries(program PRIVATE @::@)

if(NOT TARGET @::@)
  add_library(@ STATIC \"${CMAKE_CURRENT_LIST_DIR}/@.c\")
  add_library(@::@ ALIAS @)
  target_include_directories(@ PUBLIC \"${CMAKE_CURRENT_LIST_DIR}\")
  set_target_properties(@ PROPERTIES C_STANDARD 11 POSITION_INDEPENDENT_CODE ON)
  if(NOT MSVC)
    target_compile_options(@ PRIVATE -O2 -fwrapv -fno-math-errno)
    target_link_libraries(@ PUBLIC m)
  endif()
endif()
";
