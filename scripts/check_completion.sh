#!/usr/bin/env bash
# Do zsh and fish complete what one types after attn-demo? Types into both, with the completion that is installed, and
# compares what comes out. scripts/check_package.sh runs it in a bare Debian.
#
#   scripts/check_completion.sh [SHARE]     SHARE: the prefix's share folder; /usr/share without one
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

# The command line after Tab, in a terminal of zsh's own.
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

if command -v fish >/dev/null; then
  check fish 'tra' 'train translate' "$(in_fish 'tra')"
  check fish 'translate --len' '--length-penalty' "$(in_fish 'translate --len')"
  check fish 'translate --early-stopping ' 'false never true' "$(in_fish 'translate --early-stopping ')"
  check fish 'help ins' 'inspect' "$(in_fish 'help ins')"
else
  echo "fish is not installed: not checked"
fi
if command -v zsh >/dev/null; then
  check zsh 'transl' 'translate ' "$(in_zsh 'transl')"
  check zsh 'translate --len' 'translate --length-penalty ' "$(in_zsh 'translate --len')"
  check zsh 'translate --early-stopping n' 'translate --early-stopping never ' "$(in_zsh 'translate --early-stopping n')"
  check zsh 'help ins' 'help inspect ' "$(in_zsh 'help ins')"
else
  echo "zsh is not installed: not checked"
fi
exit "$failed"
