# The HTML page's files become part of a library: one script after the other, in this order.
set(page_scripts text dom maps data measures pattern scene state color overview lines heatmap stage compare next_word why residual_stream residual_stream_view
  steps steps_view approximation curve training alignment report tree controls live/module_worker live/standalone live/bench live/live
  live/live_view live/trainer keyboard embed main)
set(page_styles page panels live)

function(attn_page_sources target page_folder)
  list(TRANSFORM page_scripts REPLACE "(.+)" "script/\\1.js")
  list(TRANSFORM page_styles REPLACE "(.+)" "style/\\1.css")
  set(page_files page.html ${page_scripts} ${page_styles})
  list(TRANSFORM page_files PREPEND ${page_folder}/)
  list(JOIN page_scripts "," page_script_list)
  list(JOIN page_styles "," page_style_list)
  set(embed ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_page.cmake)
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/page_sources.cpp
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/page_sources.cpp
      -DFOLDER=${page_folder} -DSCRIPTS=${page_script_list} -DSTYLES=${page_style_list} -P ${embed}
    DEPENDS ${page_files} ${embed}
    VERBATIM)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/page_sources.cpp)
endfunction()
