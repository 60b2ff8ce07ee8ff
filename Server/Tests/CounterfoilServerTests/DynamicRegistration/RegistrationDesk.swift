import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A server that accepts registrations, with the requests of clients that register themselves.
struct RegistrationDesk: Sendable {
    static let callback = "https://rp.example.net/callback"

    let test: TestServer

    init(
        store: any AuthorizationServerStore = TestStore(), files: RegistrantFiles? = nil,
        logoutSender: (any LogoutNoticeSender)? = nil,
        policy change: (inout UnregisteredClientPolicy) -> Void = { _ in },
        configure: (inout ServerSettings) -> Void = { _ in }
    ) async throws {
        test = try await TestServer(
            store: store, clientFiles: files, logoutSender: logoutSender, configure: configure)
        try await set { policy in
            policy.kinds = [.registration]
            change(&policy)
        }
    }

    /// Changes the policy for unregistered clients.
    func set(_ change: (inout UnregisteredClientPolicy) -> Void) async throws {
        var policy = try await test.store.unregisteredClientPolicy()
        change(&policy)
        #expect(try await test.store.updateUnregisteredClientPolicy(policy) == .updated)
    }

    /// Sends JSON to a path or URL of the server.
    func send(
        _ method: HTTPRequest.Method, to address: String, _ body: String = "", type: String? = "application/json",
        token: String? = nil, fields: HTTPFields = [:], source: String = "192.0.2.1"
    ) async throws -> Reply {
        let origin = test.issuer.origin
        let target = address.hasPrefix(origin) ? String(address.dropFirst(origin.count)) : address
        let route = try #require(test.server.routing.routes.route(target.prefix { $0 != "?" }))
        var sent = fields
        if !body.isEmpty { sent[.contentType] = type }
        if let token { sent[.authorization] = "Bearer \(token)" }
        return await test.server.respond(
            to: IncomingRequest(
                head: HTTPRequest(method: method, scheme: nil, authority: nil, path: target, headerFields: sent),
                body: Array(body.utf8), source: source, id: "request", parameters: route.parameters),
            at: route.endpoint)
    }

    /// Sends a registration.
    func register(
        _ metadata: [String: Any], token: String? = nil, source: String = "192.0.2.1"
    ) async throws -> Reply {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: metadata), as: UTF8.self)
        return try await send(.post, to: "/oauth2/register", body, token: token, source: source)
    }

    /// Registers a client, and returns the response.
    func registered(_ metadata: [String: Any]) async throws -> Registrant {
        let reply = try await register(metadata)
        #expect(reply.status == .created, "\((try? reply.text) ?? "")")
        return try Registrant(desk: self, members: reply.members)
    }

    /// Expects that a registration is refused, and returns the description.
    @discardableResult
    func refusal(of metadata: [String: Any], _ error: String = "invalid_client_metadata") async throws -> String {
        let reply = try await register(metadata)
        #expect(reply.status == .badRequest)
        #expect(reply.fields[.cacheControl] == "no-store")
        let members = try reply.members
        #expect(members["error"] as? String == error, "\(members)")
        return try #require(members["error_description"] as? String)
    }

    /// The events of registrations in the audit log, oldest first.
    var events: [AuditEvent] {
        get async throws {
            try await test.store.auditLog(after: nil, limit: 1000).map(\.event).filter { $0.kind == .client }
        }
    }
}

/// A client that has registered itself.
struct Registrant {
    let desk: RegistrationDesk
    /// The members of the response.
    let members: [String: Any]
    let id: ClientIdentifier
    let token: String
    let url: String

    init(desk: RegistrationDesk, members: [String: Any]) throws {
        self.desk = desk
        self.members = members
        id = try #require((members["client_id"] as? String).flatMap { ClientIdentifier($0) })
        token = try #require(members["registration_access_token"] as? String)
        url = try #require(members["registration_client_uri"] as? String)
    }

    var secret: String? { members["client_secret"] as? String }

    /// `Authorization: Basic` of the client (RFC 6749 §2.3.1).
    var basic: String {
        "Basic " + Data("\(id.rawValue):\(secret ?? "")".utf8).base64EncodedString()
    }

    /// The stored client; nil if it does not exist.
    var stored: RegisteredClient? { get async throws { try await desk.test.store.client(id) } }

    /// The stored client; a missing one fails the test.
    func registration() async throws -> RegisteredClient {
        let found = try await stored
        return try #require(found)
    }

    func read(token: String? = nil) async throws -> Reply {
        try await desk.send(.get, to: url, token: token ?? self.token)
    }

    /// Replaces the registration; `client_id` is added.
    func replace(_ metadata: [String: Any], token: String? = nil) async throws -> Reply {
        let metadata = metadata.merging(["client_id": id.rawValue]) { own, _ in own }
        let body = String(decoding: try JSONSerialization.data(withJSONObject: metadata), as: UTF8.self)
        return try await desk.send(.put, to: url, body, token: token ?? self.token)
    }

    func delete(token: String? = nil) async throws -> Reply {
        try await desk.send(.delete, to: url, token: token ?? self.token)
    }

    /// An authorization request of the client.
    func attempt(at redirectURI: String = RegistrationDesk.callback, for scope: String = "openid") async throws
        -> Attempt
    {
        Attempt(desk.test, by: try await registration(), at: redirectURI, for: scope)
    }

    /// Authorizes the client as alice, and returns the tokens.
    func tokens(at redirectURI: String = RegistrationDesk.callback, for scope: String = "openid") async throws
        -> TokenResponse
    {
        let attempt = try await attempt(at: redirectURI, for: scope)
        let form = attempt.exchange(try await attempt.authorize().code)
        return try await desk.test.redeem(form, fields: secret == nil ? [:] : [.authorization: basic]).tokenResponse
    }
}

/// The files that clients publish, in place of the internet.
actor RegistrantFiles: ClientFileFetcher {
    private var files: [String: ClientFileFetch] = [:]
    /// The URLs of the requests.
    private(set) var requests: [String] = []

    func publish(_ text: String, at url: String, status: Int = 200) {
        files[url] = .answered(
            .init(status: status, contentType: "application/json", body: status == 200 ? Array(text.utf8) : []))
    }

    func publish(_ bytes: [UInt8], type: String, at url: String) {
        files[url] = .answered(.init(status: 200, contentType: type, body: bytes))
    }

    func fetch(_ request: ClientFileRequest, for context: RequestContext?) -> ClientFileFetch {
        requests.append(request.url.rawValue)
        return files[request.url.rawValue] ?? .failed(.unknownHost)
    }
}
