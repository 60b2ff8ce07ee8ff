import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
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

    /// Returns the identifier of a user whose record this version cannot read; nil if only the operations find users.
    func userID(named username: Username) async throws -> String?

    /// Deletes the records that are left of deleted users and apps, unless a running server does it.
    func finishRemovals() async throws
}

extension AdministrationTransport {
    func userID(named username: Username) async throws -> String? { nil }

    func finishRemovals() async throws {}

    /// Finds the user with a user name; nil if there is none.
    func user(named name: String) async throws -> AdministrationRecord? {
        guard let username = Username(name) else { return nil }
        let filter = "&username=" + AdministrationOperation.segment(username.rawValue)
        return try await items(of: "/users", filter: filter, atMost: 1).first
    }

    /// Reads a record; nil if there is none.
    func record(at path: String) async throws -> AdministrationRecord? {
        let answer = try await send(.get, path, fields: [:], body: [])
        if answer.status == .notFound { return nil }
        return try AdministrationRecord(try answer.successful("GET \(path)"))
    }

    /// Reads every item of a list.
    ///
    /// - Parameters:
    ///   - filter: The parameters of the query, encoded, each after `&`.
    ///   - count: The maximum number of items; nil for all, or a failure if there are too many.
    ///   - pages: The maximum number of pages.
    ///   - options: The options of the command, by the names of the parameters that they become.
    func items(
        of path: String, filter: String = "", atMost count: Int? = nil, inPages pages: Int = 500,
        options: [String: String] = [:]
    ) async throws -> [AdministrationRecord] {
        var items: [AdministrationRecord] = []
        var cursor: String?
        for _ in 1...pages {
            let limit = min(200, (count ?? .max) - items.count)
            if limit == 0 { return items }
            let query = "?limit=\(limit)\(filter)" + (cursor.map { "&cursor=\($0)" } ?? "")
            let answer = try await send(.get, path + query, fields: [:], body: [])
            if !options.isEmpty { try answer.accepted(options: options) }
            let page = try AdministrationRecord(try answer.successful("GET \(path)"))
            items += page.records("items")
            cursor = page.text("next")
            if cursor == nil { return items }
        }
        throw CommandFailure.refused("GET \(path): the list has more than \(pages) pages")
    }

    /// Reads the paths of the APIs, by their URIs.
    func apiPaths() async throws -> [Resource: String] {
        var paths: [Resource: String] = [:]
        for api in try await items(of: "/apis") {
            guard let uri = api.text("resource"), let resource = try? Resource(uri), let id = api.text("client_id")
            else { continue }
            paths[resource] = "/apis/" + AdministrationOperation.segment(id)
        }
        return paths
    }

    /// Creates a record once, also if an answer is lost.
    func create(_ path: String, _ body: [String: JSONValue]? = nil) async throws -> AdministrationResponse {
        try await change(.post, path, key: UUID().uuidString, body)
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

extension AdministrationResponse {
    /// Returns the answer itself; throws the refusal of another one.
    func successful(_ request: String) throws(CommandFailure) -> AdministrationResponse {
        guard status.kind == .successful else { throw failure(of: request) }
        return self
    }

    /// Returns the record in the answer to a command; throws the failure of another answer.
    ///
    /// - Parameters:
    ///   - options: The options of the command, by the names of the members and parameters that they become; a member
    ///     of an object is named after it and a slash.
    ///   - missing: The failure if the path names no record.
    ///   - refusals: The failures that know more than the answer, by the kinds of problems.
    func record(
        options: [String: String] = [:], missing: CommandFailure? = nil, refusals: [String: CommandFailure] = [:]
    ) throws(CommandFailure) -> AdministrationRecord {
        try accepted(options: options, missing: missing, refusals: refusals)
        return try AdministrationRecord(self)
    }

    /// Throws the failure of a command unless its request was accepted.
    func accepted(
        options: [String: String] = [:], missing: CommandFailure? = nil, refusals: [String: CommandFailure] = [:]
    ) throws(CommandFailure) {
        if status.kind == .successful { return }
        if status == .notFound, let missing { throw missing }
        let kind = problem["type"]?.text?.split(separator: ":").last.map(String.init)
        if let known = kind.flatMap({ refusals[$0] }) { throw known }
        // A header field is no option of a command.
        let texts = refusedParts.filter { !$0.isHeader }.map { part in
            let names = part.name.split(separator: "/").map(String.init)
            let option = options[names.joined(separator: "/")] ?? names.first.flatMap { options[$0] }
            return (option.map { "\($0): " } ?? (part.name.isEmpty ? "" : "\(part.name): ")) + part.text
        }
        throw failure(texts.isEmpty ? [detail.asFailureText] : texts)
    }

    /// Returns true if the request was refused with a kind of problem, such as `changed-meanwhile`.
    func isProblem(_ kind: String) -> Bool { problem["type"]?.text?.hasSuffix(":" + kind) == true }

    /// Creates the failure of a refused request, with the reasons of the problem details (RFC 9457).
    func failure(of request: String) -> CommandFailure {
        let texts = [detail] + refusedParts.map { "\($0.name): \($0.text)" }
        return failure(["\(request): \(status.code) " + texts.joined(separator: " ")])
    }

    /// - Parameter reasons: The reasons, each of which gets a line.
    private func failure(_ reasons: [String]) -> CommandFailure {
        let lines = reasons.map { String(VisibleText(of: $0.unicodeScalars.prefix(4000)).scalars) }
        let text = lines.joined(separator: "\n  ")
        let kind = problem["type"]?.text ?? ""
        switch status.code {
        case 409 where Self.temporaryConflicts.contains { kind.hasSuffix($0) }: return .temporary(text)
        case 412, 429, 500...: return .temporary(text)
        default: return .refused(text)
        }
    }

    /// The conflicts that a retry can solve.
    private static let temporaryConflicts = [
        "changed-meanwhile", "rotated-meanwhile", "request-pending", "check-pending", "queue-full", "mail-not-sent",
    ]

    private var problem: [String: JSONValue] { (try? JSONReader.object(body)) ?? [:] }

    /// The reason of a refusal.
    private var detail: String {
        let problem = problem
        return problem["detail"]?.text ?? problem["error_description"]?.text ?? status.reasonPhrase
    }

    /// The refused parts of the request, with the reason for each.
    private var refusedParts: [(name: String, text: String, isHeader: Bool)] {
        guard case .array(let errors)? = problem["errors"] else { return [] }
        return errors.prefix(20).compactMap { error in
            guard case .object(let part) = error else { return nil }
            let header = part["header"]?.text
            let name = part["pointer"]?.text ?? part["parameter"]?.text ?? header ?? ""
            return (name, part["detail"]?.text ?? "", header != nil)
        }
    }
}

extension String {
    /// A sentence in the form of the failures of commands: without a capital letter and a full stop.
    fileprivate var asFailureText: String {
        var text = self
        if text.hasSuffix(".") { text.removeLast() }
        guard let first = text.first, text.dropFirst().first?.isLowercase == true else { return text }
        return first.lowercased() + text.dropFirst()
    }
}
