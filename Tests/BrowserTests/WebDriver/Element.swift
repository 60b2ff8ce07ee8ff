import Foundation
import NIOHTTP1

/// An element of the page that is open.
struct Element: Sendable {
    /// The name under which WebDriver passes elements around (W3C WebDriver §11).
    static let key = "element-6066-11e4-a52e-4f735466cecf"

    let reference: JSONValue
    private let path: String
    private let session: WebDriverConnection

    init(_ reference: JSONValue, session: WebDriverConnection) throws {
        guard let id = reference[Self.key]?.string else { throw WebDriverError.notUnderstood("element") }
        self.reference = reference
        self.session = session
        path = "/element/\(id)"
    }

    /// The text that a person sees in it.
    var text: String {
        get async throws { try await session.send(.GET, path + "/text").string ?? "" }
    }

    /// The name that assistive technology says.
    var accessibleName: String {
        get async throws { try await session.send(.GET, path + "/computedlabel").string ?? "" }
    }

    /// The role that assistive technology says.
    var accessibleRole: String {
        get async throws { try await session.send(.GET, path + "/computedrole").string ?? "" }
    }

    /// An attribute as it stands in the page; nil where there is none.
    func attribute(_ name: String) async throws -> String? {
        try await session.send(.GET, path + "/attribute/\(name)").string
    }

    /// A property of the DOM; nil where there is none.
    func property(_ name: String) async throws -> JSONValue? {
        let value = try await session.send(.GET, path + "/property/\(name)")
        return value == .null ? nil : value
    }

    /// Clicks into its middle.
    func click() async throws {
        _ = try await session.send(.POST, path + "/click")
    }

    /// Types text or ``Key``s into it.
    func type(_ text: String) async throws {
        _ = try await session.send(.POST, path + "/value", ["text": .string(text)])
    }

    /// Chooses a file, as in the window that the system opens for it.
    func choose(_ file: URL) async throws {
        try await type(file.path)
    }

    /// Empties a field.
    func clear() async throws {
        _ = try await session.send(.POST, path + "/clear")
    }

    /// Submits the form that it is, or is in, as its first button would.
    func submit() async throws {
        let script = "const e = arguments[0]; (e.form ?? e.closest('form')).requestSubmit();"
        _ = try await session.send(.POST, "/execute/sync", ["script": .string(script), "args": [reference]])
    }
}
