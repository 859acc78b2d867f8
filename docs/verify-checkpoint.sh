#!/bin/sh
# Checks the signature on a checkpoint, or on any signed note (C2SP signed-note), with OpenSSL 3 and
# what every Unix has; nothing of hashtape is needed.
#
#   sh verify-checkpoint.sh NOTE VKEY
#
# In a file of several notes, as FILE.checkpoint is, the last is checked.
# VKEY is the signer's key as `name+id+base64`. Prints OpenSSL's answer; exits with 0 only if it is yes.
# `base64 -d` must exist: with an old macOS, say `base64 -D` in its place.
set -eu
if [ $# -ne 2 ]; then
  echo 'usage: sh verify-checkpoint.sh NOTE VKEY (a file of signed notes, and a key as name+id+base64)' >&2
  exit 2
fi
note=$1 vkey=$2
name=${vkey%%+*}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The public key: DER's beginning for Ed25519 (RFC 8410), then the key's 32 bytes without the byte for its type.
{
  printf '\060\052\060\005\006\003\053\145\160\003\041\000'
  printf '%s' "$vkey" | cut -d + -f 3- | base64 -d | tail -c 32
} | openssl pkey -pubin -inform DER -out "$work/key.pem"

# The last note of the file. A checkpoint's text has no blank line, so another ends before it where a line that is
# a signature is followed by one that is neither a signature nor blank.
awk '{ if (signed && $0 != "" && $1 != "—") n = 0; signed = ($1 == "—"); line[++n] = $0 }
  END { for (i = 1; i <= n; i++) print line[i] }' "$note" > "$work/note"
note=$work/note

# What is signed is everything before the last blank line; a signature is the last 64 bytes of its line.
awk '{ line[NR] = $0; if ($0 == "") last = NR } END { for (i = 1; i < last; i++) print line[i] }' \
  "$note" > "$work/text"
awk -v name="$name" '{ if ($0 == "") found = ""; if ($1 == "—" && $2 == name) found = $3 } END { print found }' \
  "$note" | base64 -d | tail -c 64 > "$work/signature"

openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$work/text" -sigfile "$work/signature"
