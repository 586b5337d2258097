/// Called by prepared.c: Swift asks for the arguments of a process once, at its start.
@_cdecl("torture_set_arguments")
public func setArguments(_ count: Int32, _ texts: UnsafePointer<UnsafePointer<CChar>?>) {
  CommandLine.arguments = (0..<Int(count)).compactMap { texts[$0].map { String(cString: $0) } }
}
