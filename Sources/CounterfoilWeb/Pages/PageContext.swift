import CounterfoilServer
import Mustache

/// What a template can name: the page itself, what stands around it, and what a template without logic cannot work out.
struct PageContext: MustacheParent {
    private let values: [String: Any]

    /// Puts a context together: the page, its frame, and the values that it names itself.
    init(_ page: any Page, in frame: Frame, assets: Addresses) {
        var values: [String: Any] = page.values(in: frame).compactMapValues { $0.flatMap(Members.looked(into:)) }
        values["page"] = Members(of: page)
        values["site"] = Members(of: frame.site)
        values["language"] = frame.language.rawValue
        values["stylesheet"] = assets.stylesheet
        values["script"] = assets.script
        values["icon"] = assets.icon
        self.values = values
    }

    func child(named name: String) -> Any? { values[name] }

    /// The addresses of what a page loads.
    struct Addresses {
        let stylesheet: String
        /// Nil for a page without a script.
        let script: String?
        let icon: String
    }
}

/// A text as a template meets it: the engine would look for members of it by reflection, time and again.
private struct Shown: MustacheParent, MustacheCustomRenderable {
    let renderText: String
    var isNull: Bool { false }

    func child(named: String) -> Any? { nil }
}

/// The members of a value by name, and theirs, looked up once: a template asks for them many times, and a reflection is dear.
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

    /// A value as a template meets it; nil for an optional that is nil.
    ///
    /// What has a description of its own is rendered by it.
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
