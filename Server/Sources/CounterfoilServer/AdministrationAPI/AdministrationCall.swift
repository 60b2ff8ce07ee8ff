import CounterfoilProtocol
import CounterfoilStore
import Crypto
import Foundation
import HTTPTypes

/// A request to an operation of the administration API whose caller has the right for it.
struct AdministrationCall: Sendable {
    let request: IncomingRequest
    let caller: AdministrationCaller
    let components: ServerComponents
    let now: Date
    let query: QueryValues
    /// The endpoints of the pages of the server.
    let pages: [Endpoint]

    var store: any UncachedStore { components.store }
    var settings: ServerSettings { components.settings }

    /// The changes of accounts that the caller makes.
    var users: UserAdministration {
        switch caller.party {
        case .client(let client, let user, _):
            components.administration(
                by: .token(user: user, rights: caller.rights, client: client.id, request), now: now)
        case .command(let command):
            UserAdministration(
                store, serverKey: components.serverKey, by: .command, notifying: command.notices, at: now)
        }
    }

    /// The party that counts for limits: the user of the token, or the client of a token without a user.
    var party: PartyLimiter.Party {
        caller.user.map { .user($0.id) } ?? caller.clientID.map { .client($0) } ?? .command
    }

    /// The rules for the registration of clients.
    var clientRules: ClientRules {
        switch caller.party {
        case .client: ClientRules(settings, formats: components.formats)
        case .command(let command): command.rules
        }
    }

    /// Whether the server sends mail.
    var sendsMail: Bool {
        switch caller.party {
        case .client: components.sendsMail
        case .command(let command): command.sendsMail
        }
    }

    /// Throws 409 for a command on data with which no server has run, so that its settings are not known.
    func requireKnownServer() throws(ProblemError) {
        guard case .command(let command) = caller.party, command.rules.issuer == nil else { return }
        throw .conflict(
            "no-server", nil,
            "No server has run with this data, so its URL and settings are not known. Start the server once, then "
                + "try again.")
    }

    /// Creates the event of a change that is not about an account.
    func event(
        _ kind: AuditEvent.Kind, client: ClientIdentifier? = nil, detail: String, at time: Date? = nil
    ) -> AuditEvent {
        switch caller.party {
        case .client(let calling, let user, _):
            components.auditor.event(
                kind, by: request, user: user?.id, client: client ?? calling.id, detail: detail, now: time ?? now)
        case .command:
            AuditEvent(at: time ?? now, kind, clientID: client, detail: AuditEvent.commandPrefix + detail)
        }
    }

    /// Returns the URL of a path of the API.
    func url(_ path: String) -> String { settings.issuer.endpoint(AdministrationOperation.prefix + path) }

    /// Returns a page of a list that the store returns as a whole.
    func page<Item: AdministrationDocument>(
        of items: [Item], list: String, id: (Item) -> String
    ) throws -> AdministrationAnswer {
        try page(of: items, list: list, id: id, as: { $0 })
    }

    /// Returns a page of a list that the store returns as a whole, with the documents of its items.
    func page<Item, Document: AdministrationDocument>(
        of items: [Item], list: String, id: (Item) -> String, as document: (Item) -> Document
    ) throws -> AdministrationAnswer {
        let cursor = ListCursor(self, list: list)
        let (position, limit) = (try cursor.position(in: query), try query.limit())
        var begin = 0
        if let halves = position?.split(separator: " ", maxSplits: 1), halves.count == 2 {
            // If the last item of the page before is gone, the following ones have moved up by one.
            let last = items.firstIndex { id($0) == halves[1] }
            begin = last.map { $0 + 1 } ?? max(0, (Int(halves[0]) ?? 0) - 1)
        }
        let shown = Array(items.dropFirst(begin).prefix(limit))
        let end = begin + shown.count
        return try AdministrationAnswer(
            list: shown.map(document),
            next: end < items.count ? try shown.last.map { try cursor.text(after: "\(end) \(id($0))") } : nil)
    }

    /// Returns a variable segment of the path, decoded; throws 404 if it is malformed.
    func segment(_ name: String) throws(NotFoundError) -> String {
        guard let sent = request.parameters.segments[name], let text = sent.removingPercentEncoding, !text.isEmpty,
            text.utf8.count <= 2048, !text.utf8.contains(0)
        else { throw NotFoundError() }
        return text
    }

    /// Returns the user in the path; throws 404 if there is none.
    func user() async throws -> User {
        guard let id = UserIdentifier(try segment("user")), !id.isPseudonym, let user = try await store.user(id) else {
            throw NotFoundError()
        }
        return user
    }

    /// Returns the user in the path, even if this version cannot read the record; throws 404 if there is none.
    ///
    /// The functions of ``users`` check that the caller may change the account.
    func account() async throws -> (id: UserIdentifier, username: String) {
        guard let id = UserIdentifier(try segment("user")), !id.isPseudonym,
            let username = try await store.usernames(of: [id])[id]
        else { throw NotFoundError() }
        return (id, username)
    }

    /// Returns the user in the path, whose account the caller may change; throws 404 or 403.
    func changeableUser() async throws -> User {
        let user = try await user()
        try await users.check(actingOn: user.id)
        return user
    }

    /// Returns the value of `If-Match`; throws 428 if the request has none (RFC 6585 §3).
    func expectedTag() throws(ProblemError) -> String {
        let values = request.head.headerFields[values: .ifMatch]
        guard values.count == 1, let value = values.first, !value.isEmpty else {
            throw ProblemError(
                .preconditionRequired, "no-version",
                "Send the ETag of the record in If-Match, so that no other change is overwritten.",
                parts: [.header("If-Match", "The header is required once.")])
        }
        return value
    }

    /// Throws 412 if the request has `If-Match` and it does not name the version of a record.
    ///
    /// It is for an operation that does not require the field (RFC 9110 §13.1.1). The value `*` names any version.
    func requireMatchIfSent(_ tag: () async throws -> EntityTag) async throws {
        let sent = request.head.headerFields[values: .ifMatch]
        guard !sent.isEmpty, sent != ["*"] else { return }
        let tag = try await tag()
        guard Self.tags(sent.joined(separator: ",")).contains(tag.text) else { throw ProblemError.changedMeanwhile }
    }

    /// Throws 412 unless `If-Match` names the version of a record (RFC 9110 §13.1.1).
    func requireMatch(_ tag: EntityTag) throws(ProblemError) {
        guard Self.tags(try expectedTag()).contains(tag.text) else { throw .changedMeanwhile }
    }

    private static func tags(_ list: String) -> [String] {
        list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}

extension ProblemError {
    /// The error if a record is not the version that `If-Match` names any more.
    static let changedMeanwhile = ProblemError(
        .preconditionFailed, "changed-meanwhile", "The record has changed; read it again, and repeat the change.",
        parts: [.header("If-Match", "It is not the version of the record.")])
}

/// The version of a record: a digest of what can be changed (RFC 9110 §8.8.3).
struct EntityTag: Sendable, Hashable {
    /// The value of the field `ETag`, with quotation marks.
    let text: String

    init(of document: some Encodable) throws {
        let digest = SHA256.hash(data: try AdministrationAnswer.encode(document))
        text = "\"" + RecordDigest([digest.description]).text + "\""
    }
}

/// A record in answers of the administration API.
protocol AdministrationDocument: Encodable, Sendable {
    /// The names of the members.
    associatedtype Member: CodingKey & CaseIterable & RawRepresentable<String>
}

/// The successful answer of an operation.
struct AdministrationAnswer: Sendable {
    /// The JSON; nil for no body.
    let body: [UInt8]?
    var fields: HTTPFields = [:]
    /// The user whom the answer is about; nil for another record.
    var user: UserIdentifier?
    /// Whether the body is JSON documents on lines (NDJSON).
    private var hasLines = false

    /// The answer without a body.
    static let none = AdministrationAnswer(body: nil)

    private init(body: [UInt8]?) { self.body = body }

    /// Creates an answer with a document, and with its version if it has one.
    init(_ document: some AdministrationDocument, version: EntityTag? = nil, location: String? = nil) throws {
        body = Array(try Self.encode(document))
        if let version { fields[.eTag] = version.text }
        if let location { fields[.location] = location }
    }

    /// Creates an answer that was kept.
    init(kept body: [UInt8]?, fields: HTTPFields) {
        self.body = body
        self.fields = fields
    }

    /// Creates an answer with a page of a list.
    init<Item: AdministrationDocument>(list items: [Item], next: String?) throws {
        body = Array(try Self.encode(List(items: items, next: next)))
    }

    /// Creates an answer with JSON documents, one on each line (NDJSON).
    init(lines: [UInt8]) {
        body = lines
        hasLines = true
    }

    private struct List<Item: Encodable>: Encodable {
        let items: [Item]
        let next: String?
    }

    static func encode(_ document: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(document)
    }

    func reply(_ status: HTTPResponse.Status) -> Reply {
        let content = body.map { hasLines ? Reply.Content.file($0, type: "application/x-ndjson") : .json($0) }
        return Reply(status, content ?? Reply.Content.none, fields: fields)
    }
}
