import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// A server that accepts client documents, and the files of their hosts.
struct DocumentWorld: Sendable {
    static let url = "https://app.example.net/client.json"
    static let redirectURI = "http://127.0.0.1:51004/callback"
    /// The maximum scope of clients with documents.
    static let scope = "openid profile offline_access photos.read photos.write"

    let test: TestServer
    let files: ScriptedClientFiles

    /// Creates a server; by default, one file is the document of the client at ``url``.
    init(
        _ documents: [String: String]? = nil, store: any AuthorizationServerStore = TestStore(),
        _ change: (inout UnregisteredClientPolicy) -> Void = { _ in },
        configure: (inout ServerSettings) -> Void = { _ in }
    ) async throws {
        let files = ScriptedClientFiles(documents ?? [Self.url: Self.document()])
        self.files = files
        test = try await Self.server(files, store: store, change, configure: configure)
    }

    /// Creates a server that accepts client documents from a fetcher.
    static func server(
        _ files: any ClientFileFetcher, store: any AuthorizationServerStore = TestStore(),
        _ change: (inout UnregisteredClientPolicy) -> Void = { _ in },
        configure: (inout ServerSettings) -> Void = { _ in }
    ) async throws -> TestServer {
        let test = try await TestServer(store: store, clientFiles: files, configure: configure)
        var policy = UnregisteredClientPolicy(kinds: [.document], maximumScope: try Scope(parsing: scope))
        change(&policy)
        _ = try await store.updateUnregisteredClientPolicy(policy)
        return test
    }

    /// Changes the policy of the owner.
    func setPolicy(_ change: (inout UnregisteredClientPolicy) -> Void) async throws {
        var policy = try await test.store.unregisteredClientPolicy()
        change(&policy)
        _ = try await test.store.updateUnregisteredClientPolicy(policy)
    }

    /// Returns a document with loopback and https redirect URIs; `changes` are members as JSON, nil to leave one out.
    static func document(at url: String = url, _ changes: [String: String?] = [:]) -> String {
        var members: [String: String?] = [
            "client_id": "\"\(url)\"", "client_name": "\"Example App\"",
            "grant_types": #"["authorization_code", "refresh_token"]"#,
            "redirect_uris":
                #"["http://127.0.0.1/callback", "http://localhost:3000/callback", "https://app.example.net/callback"]"#,
        ]
        for (name, value) in changes { members[name] = .some(value) }
        let lines = members.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\": \($0)" } }
        return "{\(lines.joined(separator: ", "))}"
    }

    /// Serves another document at ``url``.
    func publish(_ changes: [String: String?]) { files.set(Self.url, .json(Self.document(changes))) }

    static func id(_ url: String = url) throws -> ClientIdentifier { try #require(ClientIdentifier(url)) }

    /// The stored client; nil if no user has allowed it anything.
    var stored: RegisteredClient? { get async throws { try await test.store.client(try Self.id()) } }

    /// An authorization request of the client at a URL.
    func attempt(
        _ url: String = url, at redirectURI: String? = redirectURI, for scope: String = "photos.read"
    ) throws -> Attempt {
        try Self.attempt(test, url, at: redirectURI, for: scope)
    }

    static func attempt(
        _ test: TestServer, _ url: String = url, at redirectURI: String? = redirectURI,
        for scope: String = "photos.read"
    ) throws -> Attempt {
        // Only the identifier of the client counts: the server knows it from its document.
        let client = RegisteredClient(
            id: try id(url), type: .native, presentation: ClientPresentation(name: ""), redirectURIs: [],
            scope: Scope(), policy: .standard(for: .native), createdAt: test.clock.now)
        return Attempt(test, by: client, at: redirectURI, for: scope)
    }

    /// Obtains tokens with a refresh token, as alice.
    func tokens() async throws -> TokenResponse {
        try await attempt(for: "openid photos.read offline_access").tokens()
    }

    /// Returns the form of a refresh.
    func refresh(_ tokens: TokenResponse) -> FormParameters {
        FormParameters([
            "grant_type": "refresh_token", "client_id": Self.url,
            "refresh_token": tokens.refreshToken?.exposed ?? "",
        ])
    }

    /// The audit events about clients, oldest first.
    var audited: [String] {
        get async throws {
            try await test.store.audit(AuditQuery(kind: .client)).reversed().compactMap(\.event.detail)
        }
    }
}

extension Reply {
    /// The reason in the section for developers of an error page.
    var developerReason: String? { get throws { try problemPage.developer?.advice } }
}
