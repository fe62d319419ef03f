#!/bin/sh
# Runs the go command SPY_GO, and notes its subcommands, and what it links, in the file SPY_NOTES.
echo "$1" >> "$SPY_NOTES"
[ "$1" = build ] || exec "$SPY_GO" "$@"
shift
"$SPY_GO" build -x "$@" 2> "$SPY_NOTES".$$
status=$?
sed -n 's|.*/link -o .*|link|p' "$SPY_NOTES".$$ >> "$SPY_NOTES"
exit $status
