#!/usr/bin/env bash
# Checks that code for newer CPUs cannot run on older ones: check_cpu_code.sh BUILD_DIRECTORY
# examines every object of lib/ and app/. An object with instructions that the first x86-64 or arm64
# CPUs lack may export only data:
#   - no weak or unique symbols: of an inline function in several objects, the linker keeps one,
#   - no code that runs at startup, and
#   - no global functions: they are reached through the table after checking the CPU.
set -euo pipefail

build=${1:?usage: check_cpu_code.sh BUILD_DIRECTORY}
objdump=${OBJDUMP:-objdump}  # of another architecture
# AVX and later (wide and mask registers, names that begin with v), popcnt, BMI, SSE3 to SSE4.2.
newer='^\s+(\S+ .*(%[yz]mm|%k[0-7])|v[a-z0-9]+ .*%xmm|popcnt|lzcnt|andn |bextr|blsr|blsi|mulx|pdep|pext |rorx|s[ahl][lr]x|crc32'
newer+='|h(add|sub)p|addsubp|mov(d|sl|sh)dup|lddqu|pshufb|palignr|pabs|ph(add|sub)|pmulhrs|psign|p?blend|round[ps]'
newer+='|pinsr[bdq]|pextr[bdq]|insertps|extractps|pmov[sz]x|pmul(ld|dq)|pcmp(eqq|gtq|[ei]str)|ptest|dpp|movntdqa'
newer+='|pm(ax|in)(sb|sd|uw|ud)|packusdw|aes|pclmul'
# arm64: dot products, matrix multiplication, SVE, 16-bit floats, single-instruction atomics.
newer+='|[su]+dot|[su]+mmla|bf(dot|mmla|cvt)|\S+ .*\bz[0-9]+\.|f(add|sub|mul|mla|max|min)\S* .*(v[0-9]+\.[48]h|\bh[0-9])'
newer+='|(ld(add|clr|eor|set|[su]max|[su]min)|swp|casp?)[alhb]*\s|sqrdml[as]h)'

objects=0 special=() faults=()
while IFS= read -r -d '' object; do
  objects=$((objects + 1))
  grep -qE "$newer" < <("$objdump" -d --no-show-raw-insn --no-addresses "$object") || continue
  special+=("${object#"$build"/}")
  while read -r symbol; do faults+=("${object#"$build"/} defines $symbol"); done < <(
    nm -C --defined-only "$object" | awk '$2 ~ /^[WVuiT]$/ { sub(/^[0-9a-f]+ /, ""); print }')
  while read -r section; do faults+=("${object#"$build"/} has code that runs at start: $section"); done < <(
    readelf -SW "$object" | grep -oE '\.(preinit_array|init_array|ctors)\b' | sort -u)
done < <(find "$build/lib" "$build/app" -name '*.o' -print0)

if [ "${#faults[@]}" -gt 0 ]; then
  printf '%s\n' "${faults[@]:0:20}" >&2
  echo "instructions of newer CPUs could reach an older one: ${#faults[@]} ways" >&2
  exit 1
fi
if [ "${#special[@]}" -eq 0 ]; then
  echo "$build: none of $objects objects has code for newer CPUs; expected the kernels' at least" >&2
  exit 1
fi
echo "$objects objects; with code for newer CPUs, each behind its table:"
printf '  %s\n' "${special[@]}"
