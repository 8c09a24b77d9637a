// Lets the machine's own compiler read web/module.cpp, too. Otherwise, builds without emscripten
// would not notice when the libraries change in a way that breaks it.
#pragma once

#define EMSCRIPTEN_KEEPALIVE
