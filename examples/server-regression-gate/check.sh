#!/bin/sh
# The regression gate of a server. Run it locally and in CI: it exits with 1 if the server answers differently than recorded.
set -eu
server=${1:-server.mjs}

# Once: a tape and a contract of the version that is known to be good. Commit both.
if [ ! -e tapes/shop.tape.jsonl ]; then
  npx reelay scenario run shop.scenario.yaml --record tapes/shop.tape.jsonl -- node "$server"
  npx reelay contract make tapes/shop.tape.jsonl -o shop.contract.yaml
fi

# In each pull request. The id of the cart differs in every run, and Reelay sends the one of this run.
mkdir -p reports
npx reelay verify tapes/shop.tape.jsonl --allow add_to_cart \
  --report text --report junit=reports/verify.xml --report html=reports/verify.html -- node "$server"
npx reelay contract check shop.contract.yaml -- node "$server"
