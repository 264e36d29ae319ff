//! The package file of a library for CMake: `find_package(NAME)` gives the target `NAME::NAME`.

use super::describe::Library;
use super::library::Sources;

/// The name of the file.
pub(crate) fn name(library: &Library) -> String {
    format!("{}Config.cmake", library.name)
}

/// The text of the file, which refers to the folder that contains it.
pub(crate) fn text(sources: &Sources) -> String {
    let library = &sources.library;
    let source = library.source.replace('\n', " ");
    let head = format!("# Made by Lambada {} from {source}.\n", env!("CARGO_PKG_VERSION"));
    let text = if library.platform.is_strict() { FROM_SOURCE } else { IMPORTED };
    head + &text.replace('@', &library.name)
}

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
