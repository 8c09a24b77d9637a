# `cmake --install`: the program with what it ships, and the library for other projects. `cpack` makes
# a Debian package of the former.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
install(TARGETS attn-demo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS attn-demo-serve RUNTIME DESTINATION libexec)
install(DIRECTORY configs data DESTINATION ${CMAKE_INSTALL_DATADIR}/attn-demo)
# Parts of the standalone page, if scripts/build_web.sh has made them.
set(web_module ${PROJECT_SOURCE_DIR}/build/web/attn-demo.wasm ${PROJECT_SOURCE_DIR}/build/web/attn-demo.js)
install(FILES ${web_module} DESTINATION ${CMAKE_INSTALL_DATADIR}/attn-demo/web OPTIONAL)
install(CODE "
  if(NOT EXISTS \"${PROJECT_SOURCE_DIR}/build/web/attn-demo.wasm\")
    message(STATUS \"Without the module of `attn-demo page --alone`: scripts/build_web.sh has not run here\")
  endif()")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES app/serve/attn-demo@.service DESTINATION lib/systemd/system)

set(described ${PROJECT_BINARY_DIR}/app/describe/files)
install(DIRECTORY ${described}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(FILES ${described}/attn-demo.bash RENAME attn-demo
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${described}/attn-demo.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# zsh looks elsewhere for what packages bring than for what the administrator installs.
install(CODE "
  set(folder site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(folder vendor-completions)
  endif()
  file(INSTALL \"${described}/_attn-demo\"
    DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\")")

if(TARGET attn_demo)
  set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
  set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/attn_demo)
  install(TARGETS attn_demo EXPORT attn_demo LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY sdk/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES lib/config/search_options.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attn_demo)
  install(EXPORT attn_demo NAMESPACE attn_demo:: FILE attn_demoConfig.cmake DESTINATION ${cmake_folder})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/attn_demoConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/attn_demoConfigVersion.cmake DESTINATION ${cmake_folder})
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME attn-demo)
set(CPACK_PACKAGE_VENDOR attn-demo)
set(CPACK_PACKAGE_CONTACT "The authors of attn-demo <attn-demo@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME attn-demo)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_tools.cmake)
# Loaded when they are needed: pictures as PNG and PDF, and what is typed at a prompt.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "librsvg2-2, fonts-dejavu-core, libedit2")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "A translator whose attention you can see
 It translates English to German, trains itself, and shows every head of encoder
 self-attention, masked decoder self-attention and cross-attention.")
include(CPack)
