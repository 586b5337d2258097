import Foundation
import Synchronization

/// Which import, of which process, keeps what it knows in a store: so that another one leaves it alone while it
/// runs, and goes on with it when it does not run any more.
package struct RunMark: Codable, Hashable, Sendable {
  /// The process.
  package let process: Int32
  /// When it began, as the system counts; empty where the system does not tell.
  let begun: String
  /// The import.
  let name: String

  /// The imports of this process that run.
  private static let running = Mutex<Set<String>>([])

  /// Marks an import that begins.
  package init() {
    process = getpid()
    begun = Self.begin(of: process)
    name = UUID().uuidString
    Self.running.withLock { [name] in _ = $0.insert(name) }
  }

  /// The import has ended.
  package func end() { Self.running.withLock { [name] in _ = $0.remove(name) } }

  /// Whether the import still runs.
  ///
  /// Of processes on other machines nothing is known: they are taken for ended.
  package var isRunning: Bool {
    if process == getpid(), begun == Self.begin(of: process) {
      return Self.running.withLock { [name] in $0.contains(name) }
    }
    return (kill(process, 0) == 0 || errno == EPERM) && begun == Self.begin(of: process)
  }

  /// When a process began: numbers of processes are used again.
  ///
  /// Field 22 of `/proc/…/stat` (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html); on macOS `sysctl`.
  private static func begin(of process: Int32) -> String {
    #if canImport(Darwin)
    var name = [CTL_KERN, KERN_PROC, KERN_PROC_PID, process]
    var information = kinfo_proc()
    var byteCount = MemoryLayout<kinfo_proc>.stride
    guard sysctl(&name, UInt32(name.count), &information, &byteCount, nil, 0) == 0, byteCount > 0
    else { return "" }
    if Int32(information.kp_proc.p_stat) == SZOMB { return "ended" }
    let begin = information.kp_proc.p_un.__p_starttime
    return "\(begin.tv_sec).\(begin.tv_usec)"
    #else
    // Where there is no such file, the number has to do.
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let name = text.lastIndex(of: ")")
    else { return "" }
    let fields = text[name...].split(separator: " ")
    // What was killed stands there until its parent asks for it, which some never do.
    if fields.count > 1, ["Z", "X"].contains(fields[1]) { return "ended" }
    return fields.count > 20 ? String(fields[20]) : ""
    #endif
  }
}

/// Whose the state is that an import keeps for one that goes on with it: what the store itself reads of it.
struct RunOwner: Decodable {
  /// The import.
  let mark: RunMark
  /// Its row in the ledger.
  let ledger: Int64

  /// Reads a state; nil: it is none that can be read, of which who goes on tells.
  init?(_ state: String) {
    guard let owner = try? JSONDecoder().decode(Self.self, from: Data(state.utf8)) else {
      return nil
    }
    self = owner
  }
}
