#!/usr/bin/env bash
# Shows what Dragoman does: builds the tool, imports every feed of SampleData, asks the database.
# Leaves the database in .build/demo/demo.db; nothing outside .build is written.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. Scripts/setup.sh
echo "Building the tool (a minute or two the first time) …" >&2
swift build -c release --product dragoman
tool=$(swift build -c release --show-bin-path)/dragoman
db=.build/demo/demo.db
rm -rf .build/demo
mkdir -p .build/demo

say() { printf '\n# %s\n' "$*"; }

# run EXPECTED-EXIT-CODE ARGUMENT…: prints the command as a user would type it, and runs it.
run() {
  local expected=$1 status=0 word line=dragoman
  shift
  for word in "$@"; do
    case $word in
      *[!A-Za-z0-9_./:=,@-]*) line+=" '$word'" ;;
      *) line+=" $word" ;;
    esac
  done
  printf '$ %s\n' "$line"
  "$tool" "$@" || status=$?
  [ "$status" -eq 0 ] || echo "(exit code $status)"
  [ "$status" -eq "$expected" ] || {
    echo "demo: that should have ended with exit code $expected" >&2
    exit 1
  }
}

say "A map says what a feed means. Check it, against a sample too."
run 0 check Maps/people.map.yaml SampleData/people.json

say "Twelve people into a new database, then the same people as NDJSON and XML: nothing changes."
run 0 import Maps/people.map.yaml SampleData/people.json -d "$db"
run 0 import Maps/people.map.yaml SampleData/people.ndjson -d "$db"
run 0 import Maps/people.map.yaml SampleData/people.xml -d "$db"

say "A second delivery names some people only, and some of their values: missing keeps, null clears."
run 0 import Maps/people.map.yaml SampleData/people-partial.json -d "$db"

say "A composite key; nested paths and epoch milliseconds; German and French numbers and dates."
run 0 import Maps/fixtures.map.yaml SampleData/fixtures.json -d "$db"
run 0 import Maps/observations.map.yaml SampleData/observations.json -d "$db"
run 0 import Maps/invoices.map.yaml SampleData/invoices.json -d "$db"

say "CSV as spreadsheets write it: semicolons, quotes, a cell of two lines."
run 0 import Maps/stations.map.yaml SampleData/stations.csv -d "$db"
run 0 diff Maps/stations.map.yaml SampleData/stations.csv -d "$db"

say "A dirty feed: what can be kept is kept, the rest is named with place and reason."
run 3 import Maps/stock.map.yaml SampleData/stock-dirty.ndjson -d "$db"

say "Relationships: orders with their customer and lines nested in them, a reference from order to order."
run 0 import Maps/orders.map.yaml SampleData/orders.json -d "$db"
run 0 fetch Order -d "$db" --sort number --columns number,customer.name,customer.city,lines.@count -f table
run 0 fetch Line -d "$db" --group article --count --sum quantity --max price -f table

say "The next delivery changes some orders: look first, import, and take it back."
run 1 diff Maps/orders.map.yaml SampleData/orders-changes.json -d "$db"
run 0 import Maps/orders.map.yaml SampleData/orders-changes.json -d "$db"
run 0 undo -d "$db"
run 0 history -d "$db"

say "Objects with all that belongs to them leave as they came, by the same map; what is known by its key only stays out (exit code 3)."
run 3 export Maps/orders.map.yaml -d "$db" -f json

say "A feed without a map: dragoman guesses one, which is a text to correct."
run 0 guess SampleData/people.json
run 0 import SampleData/people.json -d .build/demo/guessed.db --guess

say "Ask the database."
run 0 fetch Person -d "$db" --where 'salary > 100000 AND city == "Paris"' --sort lastName,-salary --limit 10 -f table
run 0 fetch Fixture -d "$db" --where 'homeGoals > 1 OR awayGoals > 1' --sort date,kickoff --columns date,home,away,homeGoals,awayGoals -f markdown
run 0 fetch Observation -d "$db" --where 'station == "HAVN" AND quality == "verified"' --sort -measuredAt --columns measuredAt,level,temperature -f csv
run 0 fetch Invoice -d "$db" --sort number --columns number,issuedOn,bookedAt,net,vat,gross -f table
run 0 fetch Station -d "$db" --where 'active == TRUE' --sort -depth --columns code,name,depth,servicedAt,note -f table
run 0 fetch Article -d "$db" --count

say "The database is an ordinary SQLite file: $db"
