// Ends what begin_target.h began: the code below is compiled for the oldest CPU again.
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#undef ATTN_TARGET
