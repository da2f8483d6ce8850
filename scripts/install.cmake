# What is installed where: the command, the library with its headers and fullwarp.pc, the pages.
include(GNUInstallDirs)

# The public library: everything but the command line; only what include/fullwarp/ marks FW_API is seen from outside.
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/fullwarp.map CONTENT "{ global: fw_*; local: *; };\n")
add_library(fullwarp SHARED)
foreach(layer ${FW_LAYERS})
  target_sources(fullwarp PRIVATE $<TARGET_OBJECTS:fw_${layer}>)
endforeach()
target_include_directories(fullwarp INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(fullwarp PRIVATE $<TARGET_PROPERTY:fw_core,LINK_LIBRARIES>)
target_link_options(fullwarp PRIVATE -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/fullwarp.map)
if(NOT FW_SANITIZE) # clang leaves the sanitizer's run-time out of shared libraries
  target_link_options(fullwarp PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(fullwarp PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/fullwarp.map)

# fullwarp.pc finds its prefix from where it lies, so that an unpacked folder works too.
file(RELATIVE_PATH FW_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/fullwarp.pc CONTENT
"prefix=\${pcfiledir}/${FW_PC_PREFIX}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: fullwarp
Description: Why the GPU is not full, what to change, and how much it gains
Version: ${PROJECT_VERSION}
Libs: -L\${libdir} -lfullwarp
Cflags: -I\${includedir}
")

install(TARGETS fullwarp_cli fullwarp)
install(TARGETS fullwarp_inject LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/fullwarp)
install(DIRECTORY include/fullwarp TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fullwarp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY python/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fullwarp/python FILES_MATCHING PATTERN "*.py")
file(GLOB pages CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
foreach(text README.md CHANGELOG.md LICENSE)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${text})
    install(FILES ${text} TYPE DOC)
  endif()
endforeach()
