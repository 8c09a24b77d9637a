# Names are hidden: no other library can put its own in their place, so that calls stay what they are
# in the program, and compilers inline what they inline there.
function(attn_position_independent target)
  if(NOT ATTN_POSITION_INDEPENDENT)
    return()
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
