import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// A test server with the administration API, the owner alice, the administrator root, and an approved client.
struct AdministrationDesk {
    static let scope = AdministrationRight.allCases.map { "counterfoil.admin.\($0.rawValue)" }.joined(separator: " ")

    let test: TestServer
    let client: RegisteredClient
    let root: User

    init(
        store: any AuthorizationServerStore = TestStore(), mailSender: (any MailSender)? = nil,
        webhookSender: (any WebhookSender)? = nil, reporter: (any InstallationReporter)? = nil,
        configure: (inout ServerSettings) -> Void = { _ in }
    ) async throws {
        test = try await TestServer(
            reporter: reporter, store: store, mailSender: mailSender, webhookSender: webhookSender
        ) {
            $0.offersAdministrationAPI = true
            configure(&$0)
        }
        try await test.server.maintenance.registerAdministrationAPI()
        client = try await test.register(
            "Console", redirectURIs: ["http://127.0.0.1/callback"], scope: "openid photos.read \(Self.scope)")
        try await test.change(client) { $0.approval = .approved }
        root = try await test.addUser("root", role: .administrator)
        let outcome = try await test.store.setRole(
            .owner, of: test.alice.id, from: nil, at: test.clock.now, recording: [])
        #expect(outcome == .changed)
    }

    /// Signs in a user to the client, and returns the access token.
    func token(
        _ scope: String = Self.scope, of username: String = "alice", fields: HTTPFields = [:]
    ) async throws -> AccessToken {
        let attempt = Attempt(test, by: client, for: scope)
        var browser = test.browser()
        let code = try await browser.authorize(attempt.url, username: username, password: TestServer.password).code
        return try await test.redeem(attempt.exchange(code), fields: fields).tokenResponse.accessToken
    }

    /// Returns an access token of a service for which an administrator has approved a scope.
    func serviceToken(_ scope: String, of name: String = "Nightly") async throws -> AccessToken {
        let service = try await test.addService(name, scope: Self.scope)
        let approved = Set(scope.split(separator: " ").map(String.init))
        try await test.change(service.client) {
            $0.approval = .approved
            $0.policy.machineScope = Scope($0.scope.tokens.filter { approved.contains($0.rawValue) })
        }
        return try await service.token().accessToken
    }

    /// Sends a request to a path of the API.
    func send(
        _ method: HTTPRequest.Method, _ path: String, as token: AccessToken? = nil, json: String? = nil,
        fields: HTTPFields = [:]
    ) async throws -> Reply {
        let target = "/api/v1" + path
        let route = try #require(test.server.routing.routes.route(target.prefix { $0 != "?" }), "\(path)")
        var sent = fields
        if let token, sent[.authorization] == nil { sent[.authorization] = "Bearer \(token.exposed)" }
        if json != nil, sent[.contentType] == nil { sent[.contentType] = "application/json" }
        let head = HTTPRequest(method: method, scheme: nil, authority: nil, path: target, headerFields: sent)
        return await test.server.respond(
            to: IncomingRequest(
                head: head, body: Array((json ?? "").utf8), source: "192.0.2.1", id: "request",
                parameters: route.parameters),
            at: route.endpoint)
    }
}

extension Reply {
    /// The name of the kind of problem in problem details; nil if the body has none.
    var problem: String? {
        guard case .problem = content, let type = try? members["type"] as? String else { return nil }
        return type.split(separator: ":").last.map(String.init)
    }

    /// The refused parts of the request, in problem details.
    var refusedParts: [String] {
        get throws {
            let errors = try members["errors"] as? [[String: String]] ?? []
            return errors.compactMap { $0["pointer"] ?? $0["parameter"] ?? $0["header"] }
        }
    }

    /// The values of a member in the items of a list.
    func items(_ member: String) throws -> [String] {
        let items = try #require(try members["items"] as? [[String: Any]])
        return items.compactMap { $0[member] as? String }
    }
}
