// For the machine's own compiler, which reads web/module.cpp too: without emscripten nobody would
// notice that the libraries have moved under it.
#pragma once

#define EMSCRIPTEN_KEEPALIVE
