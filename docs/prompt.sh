#!/usr/bin/env bash
# Makes docs/prompt.svg, the README's picture, from the real program. Needs tmux,
# asciinema 2 and npx.
set -euo pipefail
cd "$(dirname "$0")/.."
temp=$(mktemp -d)
you=/tmp/you # it is in the picture
mkdir "$you"
trap 'tmux -S "$temp/socket" kill-server 2>/dev/null || true; rm -rf "$temp" "$you"' EXIT
go build -o "$temp/bin/amacs" ./cmd/amacs
cat >"$you/replies.jsonl" <<'END'
{"chunks":["{\"mood\":\"curious\",\"confidence\":0.6,\"monologue\":\"Opened a thread for the ownership error\",\"continue\":true,\"eval\":\"(progn (agent-create-thread \\\"rust-debugging\\\" :concern \\\"Fix the ownership error\\\") (agent-switch-thread \\\"rust-debugging\\\"))\"}"]}
{"mood":"clear","confidence":0.85,"monologue":"Found a reference to a local variable","reply":"parse() returns a reference to a local variable, which is gone when\nthe function ends. Return the value itself: `-> Config`, not `-> &Config`."}
END
export LC_ALL=C.UTF-8 HOME="$you" PATH="$temp/bin:$PATH" AMACS_PROVIDER=script AMACS_MODEL=replies.jsonl
unset AMACS_HOME NO_COLOR
amacs init >/dev/null
tm() { tmux -S "$temp/socket" "$@"; }
type() { tm send-keys -l "$1"; sleep 0.3; tm send-keys Enter; sleep "${2:-1.5}"; }
tm -f /dev/null new-session -d -c "$you" -x 98 -y 24 \
	"TERM=xterm-256color asciinema rec -q --overwrite -c 'cd; PS1=\"$ \" bash --norc --noprofile' '$temp/prompt.cast'"
sleep 1.5
type amacs
type "What's causing the ownership error?"
type /threads
type /quit
type 'git -C ~/.agent log --format="%h %s"'
tm send-keys C-d
sleep 1
# The picture is of the moment when the log is there.
at=$(grep 'INIT' "$temp/prompt.cast" | sed 's/^\[\([0-9]*\)\.\([0-9][0-9][0-9]\).*/\1\2/')
npx --yes svg-term-cli --in "$temp/prompt.cast" --out docs/prompt.svg --at $((at + 1)) --width 98 --height 17 --window --no-cursor
