import Foundation

/// What the system says of a file that Foundation could not write.
enum SystemFault {
  /// The system's own words where there are some, without a full stop: "No such file or directory".
  static func reason(_ error: any Error) -> String {
    var next: NSError? = error as NSError
    while let fault = next {
      if fault.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(fault.code))) }
      next = fault.userInfo[NSUnderlyingErrorKey] as? NSError
    }
    switch (error as? CocoaError)?.code {
    case .fileNoSuchFile?, .fileReadNoSuchFile?: return String(cString: strerror(ENOENT))
    case .fileWriteNoPermission?: return String(cString: strerror(EACCES))
    case .fileWriteFileExists?: return String(cString: strerror(EEXIST))
    case .fileWriteOutOfSpace?: return String(cString: strerror(ENOSPC))
    default:
      let text = error.localizedDescription
      return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
  }
}
