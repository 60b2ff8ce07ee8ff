import CounterfoilServer
import CounterfoilStore
import Mustache

/// The values that a template can use: the members of the page, the service, language and reference of its frame, the
/// URLs of static files, and values that a template cannot compute.
struct PageContext: MustacheParent {
    private let values: [String: Any]

    init(_ page: any Page, in frame: Frame, assets: Addresses) {
        var values: [String: Any] = page.values(in: frame).compactMapValues { $0.flatMap(Members.looked(into:)) }
        values["page"] = Members(of: page)
        values["site"] = Members(of: frame.site)
        values["language"] = frame.language.rawValue
        values["reference"] = frame.reference.map(Shown.init(renderText:))
        values["stylesheet"] = assets.stylesheet
        values["script"] = assets.script
        values["icon"] = assets.icon
        self.values = values
    }

    func child(named name: String) -> Any? { values[name] }

    /// The URLs of the files that a page loads.
    struct Addresses {
        let stylesheet: String
        /// Nil for a page without a script.
        let script: String?
        let icon: String
    }
}

/// A text value in a template.
///
/// It prevents the template engine from searching the string for members by reflection.
private struct Shown: MustacheParent, MustacheCustomRenderable {
    let renderText: String
    var isNull: Bool { false }

    func child(named: String) -> Any? { nil }
}

/// The members of a value by name, recursively.
///
/// Reflection is slow, so it is done once per value.
private struct Members: MustacheParent {
    private let values: [String: Any]

    init(of value: Any) { self.init(Mirror(reflecting: value)) }

    private init(_ mirror: Mirror) {
        var values: [String: Any] = [:]
        for (name, value) in mirror.children {
            if let name { values[name] = Self.looked(into: value) }
        }
        self.values = values
    }

    /// Converts a value for a template; nil for a nil optional.
    ///
    /// A struct that conforms to `CustomStringConvertible` is rendered as its description.
    static func looked(into value: Any) -> Any? {
        switch value {
        case let text as String: return Shown(renderText: text)
        case is Bool: return value
        default: break
        }
        let mirror = Mirror(reflecting: value)
        return switch mirror.displayStyle {
        case .optional: mirror.children.first.flatMap { looked(into: $0.value) }
        case .collection: mirror.children.compactMap { looked(into: $0.value) }
        case .struct:
            (value as? any CustomStringConvertible).map { Shown(renderText: $0.description) } ?? Members(mirror)
        default: value
        }
    }

    func child(named name: String) -> Any? { values[name] }
}
