#!/usr/bin/env bash
# Checks completion after attn-demo in bash, zsh and fish. Types into all three, using the installed
# completions, and compares the results; bash runs in a terminal provided by zsh.
# scripts/check_package.sh runs this in a bare Debian.
#
#   scripts/check_completion.sh [SHARE]
#     SHARE: the prefix's share folder; default: /usr/share
set -euo pipefail

share=${1:-/usr/share}
failed=0
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

check() {  # SHELL TYPED EXPECTED FOUND
  if [ "$4" = "$3" ]; then
    echo "$1: attn-demo $2 → $3"
  else
    echo "$1: attn-demo $2 gives \"$4\"; expected \"$3\"" >&2
    failed=1
  fi
}

in_fish() {  # what is offered, on one line; fish looks for the completion of programs that it finds
  HOME=$home PATH=$share/../bin:$PATH XDG_DATA_DIRS=$share:/usr/share fish -c "complete -C 'attn-demo $1'" | cut -f1 | paste -sd' '
}

# Prints the command line after Tab, in a terminal of zsh's own.
in_zsh() {
  SHARE=$share TYPED=$1 zsh -f -c '
    zmodload zsh/zpty
    zpty typing zsh -f -i
    zpty -w typing "PS1= RPS1= ; fpath=($SHARE/zsh/site-functions $SHARE/zsh/vendor-completions \$fpath)"
    zpty -w typing "autoload -Uz compinit; compinit -u -D; unsetopt auto_menu zle_bracketed_paste"
    zpty -w typing "show() { zle -I; print -r -- \"<<\$BUFFER>>\" }; zle -N show; bindkey \"^X\" show; print begi\"n\""
    zpty -r typing said "*begin*"
    zpty -w -n typing "attn-demo $TYPED"$'"'\\t\\x18'"'
    zpty -r typing said "*<<*>>*"
    zpty -d typing
    said=${said##*<<}
    print -r -- ${${said%%>>*}#attn-demo }'
}

# Same for bash, in a terminal provided by zsh.
in_bash() {
  SHARE=$share TYPED=$1 zsh -f /dev/stdin <<'END'
    zmodload zsh/zpty
    zpty typing bash --norc --noprofile -i
    zpty -w typing "PS1= PS2= ; bind 'set enable-bracketed-paste off'; source $SHARE/bash-completion/completions/attn-demo"
    zpty -w typing "show() { echo \"<<\$READLINE_LINE>>\"; }; bind -x '\"\\C-x\": show'; echo begi\"n\""
    zpty -r typing said "*begin*"
    zpty -w -n typing "attn-demo $TYPED"$'\t\x18'
    zpty -r typing said "*<<*>>*"
    zpty -d typing
    said=${said##*<<}
    print -r -- ${${said%%>>*}#attn-demo }
END
}

if command -v fish >/dev/null; then
  check fish 'tra' 'train translate' "$(in_fish 'tra')"
  check fish 'translate --len' '--length-penalty' "$(in_fish 'translate --len')"
  check fish 'translate --early-stopping ' 'false never true' "$(in_fish 'translate --early-stopping ')"
  check fish 'help ins' 'inspect' "$(in_fish 'help ins')"
else
  echo "fish is not installed: not checked"
fi
if command -v zsh >/dev/null; then
  for shell in zsh bash; do
    check "$shell" 'transl' 'translate ' "$("in_$shell" 'transl')"
    check "$shell" 'translate --len' 'translate --length-penalty ' "$("in_$shell" 'translate --len')"
    check "$shell" 'translate --early-stopping n' 'translate --early-stopping never ' \
      "$("in_$shell" 'translate --early-stopping n')"
    check "$shell" 'help ins' 'help inspect ' "$("in_$shell" 'help ins')"
  done
else
  echo "zsh is not installed: neither it nor bash was typed into"
fi
exit "$failed"
