import Dragoman
import Mustache

/// The templates and files that are built into the console.
enum PageTemplates {
  /// Renders a page's view by its template, inside of the frame that all pages have.
  ///
  /// - Parameters:
  ///   - template: The template's name.
  ///   - view: What it shows.
  ///   - frame: What stands around it.
  /// - Returns: The page.
  static func page(_ template: String, _ view: Any, in frame: PageFrame) -> String {
    var frame = frame
    frame.content = fragment(template, view)
    return fragment("frame", frame)
  }

  /// Renders a part of a page.
  static func fragment(_ template: String, _ view: Any) -> String {
    guard let text = library.render(view, withTemplate: template) else {
      preconditionFailure("there is no template \(template)")
    }
    // Whatever was typed, named or read: a page has no characters that browsers drop.
    return VisibleText.withoutControls(text)
  }

  /// Files by their names.
  static func asset(_ name: String) -> (type: String, bytes: [UInt8])? {
    switch name {
    case "console.css": ("text/css; charset=utf-8", PackageResources.console_css)
    case "console.js": ("text/javascript; charset=utf-8", PackageResources.console_js)
    case "icon.svg": ("image/svg+xml", PackageResources.icon_svg)
    default: nil
    }
  }

  /// Reads the templates, so that the first page does not wait for it.
  static func prepare() { _ = library }

  /// All templates; partials are named by `{{> name}}`.
  private static let library: MustacheLibrary = {
    MustacheContentTypes.register(Markup(), named: "MARKUP")
    var library = MustacheLibrary()
    for (name, bytes) in sources {
      do {
        let text = "{{% CONTENT_TYPE:MARKUP}}" + String(decoding: bytes, as: UTF8.self)
        try library.register(text, named: name)
      } catch {
        // It is part of the program.
        preconditionFailure("the template \(name) cannot be read: \(error)")
      }
    }
    return library
  }()

  private static var sources: [(String, [UInt8])] {
    [
      ("cell", PackageResources.cell_mustache),
      ("change", PackageResources.change_mustache),
      ("entity", PackageResources.entity_mustache),
      ("error", PackageResources.error_mustache),
      ("fault", PackageResources.fault_mustache),
      ("frame", PackageResources.frame_mustache),
      ("history", PackageResources.history_mustache),
      ("import", PackageResources.import_mustache),
      ("job", PackageResources.job_mustache),
      ("live", PackageResources.live_mustache),
      ("model", PackageResources.model_mustache),
      ("object", PackageResources.object_mustache),
      ("origins", PackageResources.origins_mustache),
      ("overview", PackageResources.overview_mustache),
      ("profile", PackageResources.profile_mustache),
      ("profilecard", PackageResources.profilecard_mustache),
      ("reject", PackageResources.reject_mustache),
      ("rejects", PackageResources.rejects_mustache),
      ("run", PackageResources.run_mustache),
      ("runs", PackageResources.runs_mustache),
      ("undo", PackageResources.undo_mustache),
    ]
  }
}

/// Values within markup.
///
/// The library's own way goes by grapheme clusters: to it a quote is another character where a combining mark stands
/// behind it, and would end the attribute that the value stands in.
private struct Markup: MustacheContentType {
  func escapeText(_ text: String) -> String { CellView.escaped(text) }
}

/// What stands around a page's contents.
struct PageFrame {
  /// One of the places that each page links to.
  struct Place {
    let name: String
    let address: String
    let isHere: Bool
  }

  /// The page's title.
  var title: String
  /// The database's file name.
  var database: String
  /// The places.
  var places: [Place]
  /// Where the same page is as JSON; nil: nowhere.
  var json: String?
  /// After how many seconds the page is loaded again where no script runs; nil: never.
  var refresh: Int?
  /// The contents, as HTML.
  var content = ""
}
