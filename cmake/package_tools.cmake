# Read by cpack. Without these programs, it would write a package without dependencies, which installs but does not run.
foreach(tool dpkg-shlibdeps file)
  find_program(found_${tool} ${tool})
  if(NOT found_${tool})
    message(FATAL_ERROR "cpack needs ${tool} to list the package's dependencies: apt-get install dpkg-dev file")
  endif()
endforeach()
