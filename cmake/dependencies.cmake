# Every dependency is a Debian package (scripts/install_packages.sh names them).
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_package(SentencePiece REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(librsvg REQUIRED librsvg-2.0>=2.52)
# What is typed at a prompt is edited by it; without it a line is taken as the terminal gives it.
pkg_check_modules(libedit libedit)
find_package(PNG REQUIRED)
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)
