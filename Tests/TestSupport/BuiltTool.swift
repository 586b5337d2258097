import Foundation

/// An executable that SwiftPM builds with the tests.
public enum BuiltTool {
  /// Where it is.
  ///
  /// SwiftPM puts it beside the test bundle, inside of which, on macOS, this code stands.
  ///
  /// - Parameter name: The name of its file.
  /// - Returns: Beside the root folder, where it does not exist, if it was not built.
  public static func url(_ name: String) -> URL {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0])
    #if canImport(Darwin)
    // There the arguments are of the program that has loaded the bundle.
    var image = Dl_info()
    if dladdr(#dsohandle, &image) != 0, let path = image.dli_fname {
      folder = URL(fileURLWithPath: String(cString: path))
    }
    #endif
    repeat {
      folder.deleteLastPathComponent()
    } while folder.path != "/"
      && !FileManager.default.isExecutableFile(atPath: folder.appendingPathComponent(name).path)
    return folder.appendingPathComponent(name)
  }
}
