import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// A client with a document, and a test server that accepts unregistered clients.
struct DocumentClient: Sendable {
    static let url = "https://apps.viewer.co.uk/client.json"
    static let keysURL = "https://apps.viewer.co.uk/keys.json"

    let test: TestServer
    let files: ScriptedClientFiles
    /// The client with its identifier only, for requests.
    let client: RegisteredClient
    /// The members of the document, which a test changes with ``publish(_:)``.
    private(set) var document: [String: JSONValue]

    /// Creates a server and publishes a document with changes.
    init(
        at url: String = url, name: String? = "Photo Viewer", redirectURIs: [String] = ["http://127.0.0.1/callback"],
        _ members: [String: JSONValue] = [:], store: any AuthorizationServerStore = TestStore()
    ) async throws {
        let files = ScriptedClientFiles()
        test = try await TestServer(store: store, clientFiles: files)
        self.files = files
        guard let id = ClientIdentifier(url) else { throw TestFailure(description: "\(url) is no client_id") }
        client = RegisteredClient(
            id: id, type: .native, presentation: ClientPresentation(name: ""), redirectURIs: [], scope: Scope(),
            policy: .standard(for: .native), createdAt: test.clock.now)
        document = [
            "client_id": .string(url), "redirect_uris": .array(redirectURIs.map(JSONValue.string)),
            "token_endpoint_auth_method": .string("none"),
        ]
        if let name { document["client_name"] = .string(name) }
        try publish(members)
        _ = try await test.store.updateUnregisteredClientPolicy(
            UnregisteredClientPolicy(
                kinds: [.document, .registration], maximumScope: try Scope(parsing: "openid photos.read")))
    }

    /// Changes members of the document, and publishes it.
    mutating func publish(_ members: [String: JSONValue]) throws {
        document.merge(members) { $1 }
        files.set(client.id.rawValue, .json(String(decoding: try JSONEncoder().encode(document), as: UTF8.self)))
    }

    /// The members of a document whose client authenticates with a key at ``keysURL``.
    static let authenticating: [String: JSONValue] = [
        "token_endpoint_auth_method": .string("private_key_jwt"), "jwks_uri": .string(keysURL),
    ]

    /// Publishes a key at ``keysURL``.
    func publishKey(_ key: SigningKey) {
        files.set(Self.keysURL, .json(String(decoding: JSONWebKeySet(keys: [key.publicKey]).encoded(), as: UTF8.self)))
    }

    /// An authorization request of the client.
    func attempt(at redirectURI: String = "http://127.0.0.1:51004/callback") -> Attempt {
        Attempt(test, by: client, at: redirectURI)
    }

    /// A browser in which alice is signed in.
    func browser() async throws -> ScriptedUserAgent {
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        return browser
    }

    /// The client after it has registered itself, with a secret if its type has one (RFC 7591).
    static func selfRegistered(
        in test: TestServer, type: ClientType = .native, redirectURIs: [String],
        metadata: [String: JSONValue] = [:]
    ) async throws -> RegisteredClient {
        guard let id = ClientIdentifier("dyn_viewer") else { throw TestFailure(description: "no client_id") }
        let secret = ClientSecret()
        let client = RegisteredClient(
            id: id, type: type, presentation: ClientPresentation(name: "Photo Viewer"),
            redirectURIs: try redirectURIs.map { try RedirectURI($0) }, scope: try Scope(parsing: "photos.read"),
            source: .registration(
                DynamicRegistration(
                    metadata: Array(try JSONEncoder().encode(metadata)), accessToken: ArtefactDigest(of: secret))),
            policy: ClientPolicy(requiresState: false), createdAt: test.clock.now)
        _ = try await test.store.addSelfRegisteredClient(
            client,
            secret: type.isConfidential
                ? ClientSecretRecord(digest: ArtefactDigest(of: secret), clientID: id, createdAt: test.clock.now) : nil,
            unusedLimit: 10)
        return client
    }

    struct TestFailure: Error { let description: String }
}
