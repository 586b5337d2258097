import Foundation
import TestServer
import Testing

/// What needs servers of its own: a primary that dies, a disk that is full.
///
/// They take a minute, and the second one has to mount a file system: `DRAGOMAN_DISASTERS` asks for them.
@Suite(
  "Servers that fail in the middle of an import",
  .enabled(
    if: TestServer.isThere && ProcessInfo.processInfo.environment["DRAGOMAN_DISASTERS"] != nil
  ),
  .serialized
)
struct ServerDisasterTests {
  private let folder: ToolFolder
  private let server: TestServer

  init() throws {
    folder = try ToolFolder()
    server = try #require(TestServer.shared)
    try folder.write(
      """
      version: 1
      entities:
        Person:
          unique: id
          attributes: { id: { type: int64 }, name: { type: string }, text: { type: string } }
          relationships:
            boss: { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: stub }
      """,
      to: "m.map.yaml"
    )
  }

  private func write(_ count: Int, textLength: Int) throws {
    var state: UInt64 = 1
    let records = (0..<count).map { number in
      // The server packs texts that repeat themselves.
      let text = (0..<textLength / 8).map { _ -> String in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return String(state >> 33 | 1 << 31, radix: 16)
      }
      return #"{"id": \#(number), "name": "n\#(number)", "text": "\#(text.joined())", "#
        + #""boss": \#((number * 7) % (count + 5))}"#
    }
    try folder.write("[\(records.joined(separator: ",\n"))]", to: "feed.json")
  }

  /// The beginning of a script: `as` runs as an account that a server may run as, `B` are its programs.
  private var prelude: String {
    """
    set -e
    B='\(server.binaries)'
    as=
    if [ "$(id -u)" -eq 0 ]; then
      user=nobody; id postgres >/dev/null 2>&1 && user=postgres
      as="setpriv --reuid=$user --regid=$(id -g $user) --clear-groups"
    fi
    W=$(mktemp -d /tmp/dragoman-disaster-XXXXXX)
    [ -z "$as" ] || chown $user $W
    cd $W
    start() { # FOLDER PORT OPTIONS
      data=$1; port=$2; shift 2
      $as $B/postgres -D $data -k $W -p $port -c listen_addresses= -c lc_messages=C "$@" >>$W/log 2>&1 </dev/null &
      echo $! >$data.pid
      n=0; while ! $B/pg_isready -q -h $W -p $port && [ $((n+=1)) -lt 300 ]; do sleep 0.1; done
    }
    """
  }

  @Test(
    "A primary that dies: the import goes on at the standby, and nothing is lost or there twice"
  )
  func failover() throws {
    try write(6000, textLength: 10)
    _ = try folder.run("import", "m.map.yaml", "feed.json", "-q", "-d", "f.db")
    let run = try folder.shell(
      prelude + """

        trap 'kill -QUIT $(cat $W/b.pid) 2>/dev/null; rm -rf $W' EXIT
        $as $B/initdb -D $W/a -U postgres -A trust -E UTF8 --locale=C --no-sync >/dev/null
        start $W/a 6001 -c wal_level=replica -c max_wal_senders=4 -c hot_standby=on
        $as $B/pg_basebackup -h $W -p 6001 -U postgres -D $W/b -R -X stream
        start $W/b 6002
        URL="postgresql:///postgres?host=$W,$W&port=6001,6002&user=postgres&target_session_attrs=read-write"
        cd '\(folder.url.path)'
        ( $D import m.map.yaml feed.json -d "$URL" --commit batch --batch-size 200 -q 2>said; echo $? >end ) &
        q() { $B/psql -X -q -A -t -h $W -p $1 -U postgres -c "$2" 2>/dev/null || true; }
        n=0; while [ "$(q 6001 'SELECT committed > 400 FROM _dragoman_imports')" != t ] && [ $((n+=1)) -lt 600 ]; do sleep 0.05; done
        kill -QUIT $(cat $W/a.pid)
        $as $B/pg_ctl promote -D $W/b >/dev/null
        while [ ! -s end ]; do sleep 0.1; done; echo "import $(cat end)"
        q 6002 "SELECT status, committed, read FROM _dragoman_imports"
        set +e
        $D export m.map.yaml -d "$URL" -q -o theirs.json
        $D export m.map.yaml -d f.db -q -o ours.json
        cmp ours.json theirs.json && echo same
        cat said
        """
    )
    #expect(run.output.contains("import 0\ndone|6000|6000\nsame"), "\(run.output) \(run.errors)")
    #expect(run.output.contains("it is done again"), "\(run.output)")
  }

  @Test(
    "A disk of the server that is full: exit 74 says so, and of one transaction nothing is kept"
  )
  func fullDisk() throws {
    try write(6000, textLength: 4000)
    let run = try folder.shell(
      prelude + """

        mkdir $W/small
        trap 'kill -QUIT $(cat $W/a.pid) 2>/dev/null; sleep 0.3; umount $W/small; rm -rf $W' EXIT
        mount -t tmpfs -o size=24m tmpfs $W/small
        mkdir $W/small/t; [ -z "$as" ] || chown $user $W/small/t
        $as $B/initdb -D $W/a -U postgres -A trust -E UTF8 --locale=C --no-sync >/dev/null
        start $W/a 6003 -c fsync=off
        q() { $B/psql -X -q -A -t -h $W -p 6003 -U postgres "$@"; }
        q -c "CREATE TABLESPACE small LOCATION '$W/small/t'" -c "CREATE DATABASE d TABLESPACE small"
        URL="postgresql:///d?host=$W&port=6003&user=postgres"
        cd '\(folder.url.path)'
        set +e
        for how in "--commit all" "--commit batch --batch-size 100"; do
          q -d d -c 'DROP SCHEMA public CASCADE; CREATE SCHEMA public' -c 'VACUUM FULL' 2>/dev/null
          $D import m.map.yaml feed.json -d "$URL" $how -q 2>said; echo "$how: $?"
          grep -o 'store.full' said | head -1
          q -d d -c 'SELECT count(*) > 0 FROM "Person"' 2>/dev/null || echo none
        done
        """
    )
    #expect(
      run.output.contains("--commit all: 74\nstore.full\nnone"),
      "\(run.output) \(run.errors)"
    )
    #expect(
      run.output.contains("--commit batch --batch-size 100: 74\nstore.full\nt"),
      "\(run.output) \(run.errors)"
    )
  }
}
