import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The way in which a command reaches the operations of the administration API.
protocol AdministrationTransport: Sendable {
    /// Sends a request whose path is relative to the API.
    ///
    /// - Throws: ``CommandFailure`` without an answer. An answer can be a refusal.
    func send(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields, body: [UInt8]
    ) async throws -> AdministrationResponse
}

extension AdministrationTransport {
    /// Reads a record; nil if there is none.
    func record(at path: String) async throws -> AdministrationRecord? {
        let answer = try await send(.get, path, fields: [:], body: [])
        if answer.status == .notFound { return nil }
        return try AdministrationRecord(try answer.successful("GET \(path)"))
    }

    /// Reads every item of a list.
    ///
    /// - Parameter filter: The parameters of the query, encoded.
    func items(of path: String, filter: String = "") async throws -> [[String: JSONValue]] {
        var items: [[String: JSONValue]] = []
        var cursor: String?
        for _ in 1...Self.pageLimit {
            let query = "?limit=200\(filter)" + (cursor.map { "&cursor=\($0)" } ?? "")
            let page = try AdministrationRecord(try await get(path + query)).members
            if case .array(let found)? = page["items"] {
                for case .object(let item) in found { items.append(item) }
            }
            cursor = page["next"]?.text
            if cursor == nil { return items }
        }
        throw CommandFailure.refused("GET \(path): the list has more than \(Self.pageLimit) pages")
    }

    /// The maximum number of pages of a list that a command reads.
    private static var pageLimit: Int { 500 }

    private func get(_ path: String) async throws -> AdministrationResponse {
        try await send(.get, path, fields: [:], body: []).successful("GET \(path.prefix { $0 != "?" })")
    }

    /// Sends a change with a JSON body, or none.
    func change(
        _ method: HTTPRequest.Method, _ path: String, ifMatch tag: String? = nil, key: String? = nil,
        _ body: [String: JSONValue]? = nil
    ) async throws -> AdministrationResponse {
        var fields: HTTPFields = [:]
        if let tag { fields[.ifMatch] = tag }
        if let key, let name = HTTPField.Name("Idempotency-Key") { fields[name] = key }
        if body != nil { fields[.contentType] = "application/json" }
        let encoded = try body.map { Array(try Output.encoded(JSONValue.object($0))) } ?? []
        return try await send(method, path, fields: fields, body: encoded)
    }
}

/// A record of the administration API, with its version.
struct AdministrationRecord: Sendable {
    let members: [String: JSONValue]
    /// The `ETag`; nil for an item of a list.
    let tag: String?

    init(_ answer: AdministrationResponse) throws(CommandFailure) {
        do { members = try JSONReader.object(answer.body) } catch {
            throw .refused("the server sent an answer that is no JSON object; is the URL that of the server?")
        }
        tag = answer.fields[.eTag]
    }
}

extension AdministrationResponse {
    /// Returns the answer itself; throws the refusal of another one.
    func successful(_ request: String) throws(CommandFailure) -> AdministrationResponse {
        guard status.kind == .successful else { throw failure(of: request) }
        return self
    }

    /// Creates the failure of a refused request, with the reasons of the problem details (RFC 9457).
    func failure(of request: String) -> CommandFailure {
        let text = "\(request): \(reason)"
        let kind = problem["type"]?.text ?? ""
        switch status.code {
        case 409 where ["changed-meanwhile", "request-pending"].contains { kind.hasSuffix($0) }:
            return .temporary(text)
        case 412, 429, 500...: return .temporary(text)
        default: return .refused(text)
        }
    }

    private var problem: [String: JSONValue] { (try? JSONReader.object(body)) ?? [:] }

    /// The reason of a refusal, as one line that is safe to print.
    private var reason: String {
        let problem = problem
        let detail = problem["detail"]?.text ?? problem["error_description"]?.text ?? status.reasonPhrase
        var parts: [String] = []
        if case .array(let errors)? = problem["errors"] {
            for case .object(let part) in errors.prefix(20) {
                let name = part["pointer"]?.text ?? part["parameter"]?.text ?? part["header"]?.text ?? ""
                parts.append("\(name): \(part["detail"]?.text ?? "")")
            }
        }
        let text = ([detail] + parts).joined(separator: " ")
        return "\(status.code) " + String(VisibleText(of: text.unicodeScalars.prefix(4000)).scalars)
    }
}
