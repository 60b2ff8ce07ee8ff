import Foundation
import NIOHTTP1

/// An element of the open page.
struct Element: Sendable {
    /// The key of element references in WebDriver (W3C WebDriver §11).
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

    /// The visible text of the element.
    var text: String {
        get async throws { try await session.send(.GET, path + "/text").string ?? "" }
    }

    /// The accessible name of the element.
    var accessibleName: String {
        get async throws { try await session.send(.GET, path + "/computedlabel").string ?? "" }
    }

    /// The accessible role of the element.
    var accessibleRole: String {
        get async throws { try await session.send(.GET, path + "/computedrole").string ?? "" }
    }

    /// Returns an attribute as written in the page, or nil.
    func attribute(_ name: String) async throws -> String? {
        try await session.send(.GET, path + "/attribute/\(name)").string
    }

    /// Returns a DOM property, or nil.
    func property(_ name: String) async throws -> JSONValue? {
        let value = try await session.send(.GET, path + "/property/\(name)")
        return value == .null ? nil : value
    }

    /// Clicks the middle of the element.
    func click() async throws {
        _ = try await session.send(.POST, path + "/click")
    }

    /// Types text or ``Key``s into the element.
    func type(_ text: String) async throws {
        _ = try await session.send(.POST, path + "/value", ["text": .string(text)])
    }

    /// Selects a file in a file field.
    func choose(_ file: URL) async throws {
        try await type(file.path)
    }

    /// Clears a field.
    func clear() async throws {
        _ = try await session.send(.POST, path + "/clear")
    }

    /// Submits the form of the element, as its first button does.
    func submit() async throws {
        let script = "const e = arguments[0]; (e.form ?? e.closest('form')).requestSubmit();"
        _ = try await session.send(.POST, "/execute/sync", ["script": .string(script), "args": [reference]])
    }
}
