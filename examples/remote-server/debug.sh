#!/bin/sh
# From "the remote server fails for me" to a file that somebody else can replay: sh debug.sh https://example.com/mcp
set -eu
url=$1

# 1. Record the call that fails. Here Reelay is the client; `reelay record --url` gives your own client a URL to use instead.
npx reelay call forecast city=Bergen --url "$url" --record tapes/bug.tape.jsonl --overwrite || true

# 2. What was said, and what failed?
npx reelay inspect tapes/bug.tape.jsonl --filter status:error

# 3. A copy without known secrets, for the bug report.
rm -f bug-report.tape.jsonl
npx reelay share tapes/bug.tape.jsonl -o bug-report.tape.jsonl

# 4. Whoever gets the copy needs neither the server nor a network: the call fails in the same way.
npx reelay call forecast city=Bergen -- npx reelay serve bug-report.tape.jsonl || echo "reproduced without the server"
