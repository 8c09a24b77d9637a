# For every target: x*y+z stays two roundings wherever the compiler is free to choose, so that numbers
# do not depend on it. Kernels that want fused multiply-adds ask for them.
add_compile_options(-ffp-contract=off)
