include(GNUInstallDirs)
install(TARGETS attn-demo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY configs data DESTINATION ${CMAKE_INSTALL_DATADIR}/attn-demo)
