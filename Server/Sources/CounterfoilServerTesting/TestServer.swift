import CounterfoilConsole
@_spi(Counterfoil) public import CounterfoilProtocol
public import CounterfoilServer
public import CounterfoilStore
public import CounterfoilTokens
import Foundation
public import HTTPTypes

/// An in-process authorization server for tests, with the user alice and the client Lightbox.
///
/// It works with any store, and defines the scopes in ``scopes``. Its clock moves only when a test moves it. The
/// password hash of alice has the lowest cost of Argon2, so that sign-in is fast. A sign-in with an unknown
/// username is slow, as in production, because the server then computes a hash of the usual cost.
public struct TestServer: Sendable {
    /// The password of alice and of every user that ``addUser(_:email:role:)`` adds.
    public static let password = "correct horse battery staple"

    /// The scopes that the server defines in addition to the standard ones, with their descriptions.
    public static let scopes = [
        "photos.read": "See your photos and albums",
        "photos.write": "Add and change photos",
        "photos.delete": "Delete photos",
    ]

    /// The server under test, which ``browser(source:)`` and ``redeem(_:fields:query:)`` send requests to.
    public let server: AuthorizationServer
    /// The store of the server, which a test can read and change directly.
    public let store: any AuthorizationServerStore
    /// The clock of the server, which a test moves so that codes, tokens or sessions expire.
    public let clock: FixedClock
    /// The log of the server, with the entries of every level.
    public let log: RecordedLog
    /// The user with the username `alice` and the email address `alice@example.com`.
    public let alice: User
    /// A native client with the redirect URI `http://127.0.0.1/callback`, which matches any port.
    ///
    /// Its scopes are `openid`, `profile`, `photos.read` and `photos.write`.
    public let lightbox: RegisteredClient

    /// Creates a server with its scopes, user and client; existing contents of the store are kept.
    public init(
        issuer: String = "https://id.example.com",
        store: any AuthorizationServerStore = TestStore(),
        clock: FixedClock = FixedClock(),
        serverKey: ServerKey? = nil,
        hasher: PasswordHasher = .keepingLowestCost(),
        associations: (any AssociationFetcher)? = nil,
        clientFiles: (any ClientFileFetcher)? = nil,
        logoutSender: (any LogoutNoticeSender)? = nil,
        mailSender: (any MailSender)? = nil,
        webhookSender: (any WebhookSender)? = nil,
        configure: (inout ServerSettings) -> Void = { _ in }
    ) async throws {
        try await self.init(
            reporter: nil, issuer: issuer, store: store, clock: clock, serverKey: serverKey, hasher: hasher,
            associations: associations, clientFiles: clientFiles, logoutSender: logoutSender, mailSender: mailSender,
            webhookSender: webhookSender, configure: configure)
    }

    /// Creates a server whose pages for administrators show what `reporter` says of its installation.
    package init(
        reporter: (any InstallationReporter)?,
        issuer: String = "https://id.example.com",
        store: any AuthorizationServerStore = TestStore(),
        clock: FixedClock = FixedClock(),
        serverKey: ServerKey? = nil,
        hasher: PasswordHasher = .keepingLowestCost(),
        associations: (any AssociationFetcher)? = nil,
        clientFiles: (any ClientFileFetcher)? = nil,
        logoutSender: (any LogoutNoticeSender)? = nil,
        mailSender: (any MailSender)? = nil,
        webhookSender: (any WebhookSender)? = nil,
        configure: (inout ServerSettings) -> Void = { _ in }
    ) async throws {
        var settings = ServerSettings(issuer: try Issuer(issuer), siteName: "Example Photos")
        configure(&settings)
        let serverKey = try serverKey ?? TestSigningKeys.serverKey
        try await TestSigningKeys.shared.copy(into: store, madeAt: clock.now)
        let log = RecordedLog()
        server = AuthorizationServer(
            settings: settings, store: store, serverKey: serverKey,
            keys: try await KeyRing.open(store, serverKey: serverKey, clock: { clock.now }),
            hasher: hasher, pages: .console, associations: associations, clientFiles: clientFiles,
            logoutSender: logoutSender, mailSender: mailSender, reporter: reporter, webhookSender: webhookSender,
            logger: log.logger,
            clock: { clock.now },
            wallClock: { clock.wall }, random: RandomBytes()
        )
        self.store = store
        self.clock = clock
        self.log = log
        for (name, description) in Self.scopes.sorted(by: { $0.key < $1.key }) {
            guard let token = Scope.Token(name) else { throw Refused("\(name) is not a scope") }
            _ = try await store.addScope(ScopeDefinition(token: token, description: description))
        }
        alice = try await Self.add("alice", email: "alice@example.com", to: store, clock: clock)
        lightbox = try await Self.add(
            RegisteredClient(
                id: try Self.identifier("app_lightbox"), type: .native,
                presentation: ClientPresentation(name: "Lightbox", publisher: "Lightbox Ltd"),
                redirectURIs: [try RedirectURI("http://127.0.0.1/callback")],
                scope: try Scope(parsing: "openid profile photos.read photos.write"),
                policy: Self.policy(for: .native), createdAt: clock.now
            ),
            to: store
        )
    }

    /// The issuer of the server, by default `https://id.example.com`.
    public var issuer: Issuer { server.settings.issuer }

    /// Returns a browser with no cookies yet, whose requests come from the given IP address.
    public func browser(source: String = "192.0.2.1") -> ScriptedUserAgent {
        ScriptedUserAgent(server, source: source)
    }

    /// Adds a user with the password ``password``, or returns the existing user with this name.
    public func addUser(
        _ name: String, email: String? = nil, role: UserRole? = nil
    ) async throws -> User {
        try await Self.add(name, email: email, role: role, to: store, clock: clock)
    }

    /// Registers a client, or returns the registered client with the same identifier.
    ///
    /// The identifier is `app_` and the first 40 ASCII letters of the name in lower case. If `policy` is nil, the
    /// client has the standard policy of its type with these changes:
    /// - An administrator vouches for the publisher, so pages show no warning.
    /// - All scopes of a client of the type `service` are approved for requests without a user.
    /// - `isFirstParty`, `requiresState` and `idTokenAlgorithm` replace the values of the policy.
    public func register(
        _ name: String,
        type: ClientType = .native,
        redirectURIs: [String],
        scope: String = "openid profile photos.read photos.write",
        optionalScope: String = "",
        owner: UserIdentifier? = nil,
        publisher: String? = nil,
        consentText: String? = nil,
        privacyURI: String? = nil,
        termsURI: String? = nil,
        origins: [String] = [],
        appleApps: [String] = [],
        androidApps: [String] = [],
        isFirstParty: Bool = false,
        requiresState: Bool = false,
        idTokenAlgorithm: SigningAlgorithm = .es256,
        policy: ClientPolicy? = nil
    ) async throws -> RegisteredClient {
        var client = RegisteredClient(
            id: try Self.identifier("app_" + name.lowercased().filter { $0.isASCII && $0.isLetter }.prefix(40)),
            type: type,
            owner: owner,
            presentation: ClientPresentation(
                name: name, publisher: publisher, consentText: consentText,
                privacyURI: try privacyURI.map { try AbsoluteURI(parsing: $0) },
                termsURI: try termsURI.map { try AbsoluteURI(parsing: $0) }
            ),
            redirectURIs: try redirectURIs.map { try RedirectURI($0) },
            scope: try Scope(lenient: scope),
            optionalScope: try Scope(lenient: optionalScope),
            origins: try origins.map { try Self.made(RegisteredOrigin($0), from: $0) },
            appleApps: try appleApps.map { try Self.made(AppleApp($0), from: $0) },
            androidApps: try androidApps.map { try Self.made(AndroidApp($0), from: $0) },
            policy: policy
                ?? Self.policy(
                    for: type, isFirstParty: isFirstParty, requiresState: requiresState,
                    idTokenAlgorithm: idTokenAlgorithm
                ),
            createdAt: clock.now
        )
        if policy == nil { client.approveRegisteredMachineScope() }
        return try await Self.add(client, to: store)
    }

    /// Sends a request to an endpoint, as a client's backend does; only cookies in `fields` are sent.
    public func send(
        _ method: HTTPRequest.Method,
        to endpoint: Endpoint,
        query: String? = nil,
        fields: HTTPFields = [:],
        body: [UInt8] = [],
        source: String = "192.0.2.1"
    ) async -> Reply {
        let path = endpoint.paths(of: issuer)[0] + (query.map { "?" + $0 } ?? "")
        let head = HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: fields)
        return await server.respond(
            to: IncomingRequest(head: head, body: body, source: source, id: "request"),
            at: endpoint
        )
    }

    /// Sends a form to the token endpoint (RFC 6749 §4.1.3).
    public func redeem(_ form: FormParameters, fields: HTTPFields = [:], query: String? = nil) async -> Reply {
        var sent: HTTPFields = [.contentType: "application/x-www-form-urlencoded", .accept: "application/json"]
        for field in fields { sent[field.name] = field.value }
        return await send(.post, to: .token, query: query, fields: sent, body: Array(form.encoded.utf8))
    }

    /// The error when the test server cannot be set up as requested.
    public struct Refused: Error, CustomStringConvertible {
        /// The reason, with the invalid value or with the outcome of the failed operation.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// The Argon2id hash of ``password`` with 8 KiB of memory and one pass.
    private static let passwordHash = PasswordHash(
        encoded: "$argon2id$v=19$m=8,t=1,p=1$YSBzYWx0IGZvciB0ZXN0cw$ff5RFSya8XLaFQj4nZaAobl2ketRNZnoQhXZqUKfGEQ"
    )

    private static func identifier(_ text: String) throws(Refused) -> ClientIdentifier {
        guard let identifier = ClientIdentifier(text) else { throw Refused("\(text) is not a client_id") }
        return identifier
    }

    private static func made<Value>(_ value: Value?, from text: String) throws(Refused) -> Value {
        guard let value else { throw Refused("\(text) is not a \(Value.self)") }
        return value
    }

    private static func policy(
        for type: ClientType,
        isFirstParty: Bool = false,
        requiresState: Bool = false,
        idTokenAlgorithm: SigningAlgorithm = .es256
    ) -> ClientPolicy {
        var policy = ClientPolicy.standard(for: type)
        policy.isFirstParty = isFirstParty
        policy.isVouchedFor = true
        policy.requiresState = requiresState
        policy.idTokenAlgorithm = idTokenAlgorithm
        return policy
    }

    private static func add(
        _ name: String,
        email: String?,
        role: UserRole? = nil,
        to store: any AuthorizationServerStore,
        clock: FixedClock
    ) async throws -> User {
        guard let username = Username(name) else { throw Refused("\(name) is not a user name") }
        if let user = try await store.user(named: username) { return user }
        let user = User(
            username: username, email: email.flatMap(EmailAddress.init), displayName: name.capitalized,
            passwordHash: passwordHash, role: role,
            createdAt: clock.now
        )
        let outcome = try await store.addUser(user)
        guard outcome == .added else { throw Refused("\(name) was not added: \(outcome)") }
        return user
    }

    private static func add(
        _ client: RegisteredClient,
        to store: any AuthorizationServerStore
    ) async throws -> RegisteredClient {
        if let registered = try await store.client(client.id) { return registered }
        let outcome = try await store.addClient(client)
        guard outcome == .added else { throw Refused("\(client.presentation.name) was not registered: \(outcome)") }
        return client
    }
}

/// The signing keys of all test servers, generated once per process because an RSA key takes long to generate.
actor TestSigningKeys {
    static let shared = TestSigningKeys()

    static var serverKey: ServerKey {
        get throws {
            guard let key = ServerKey(bytes: [UInt8](repeating: 7, count: 32)) else {
                throw TestServer.Refused("the server key is not 32 bytes")
            }
            return key
        }
    }

    private var making: Task<[SealedSigningKey], any Error>?

    func copy(into store: any SigningKeyStore, madeAt time: Date) async throws {
        let making =
            self.making
            ?? Task {
                let store = TestStore()
                _ = try await KeyRing.open(store, serverKey: try Self.serverKey)
                return try await store.signingKeys()
            }
        self.making = making
        for key in try await making.value {
            _ = try await store.addFirstSigningKey(
                SealedSigningKey(id: key.id, algorithm: key.algorithm, sealed: key.sealed, createdAt: time))
        }
    }
}

extension PasswordHasher {
    /// Creates a hasher that does not replace hashes of the lowest cost, such as that of ``TestServer/password``.
    ///
    /// - Parameter verified: Called with each hash that was compared with a password.
    public static func keepingLowestCost(
        verified: @escaping @Sendable (PasswordHash) -> Void = { _ in }
    ) -> PasswordHasher {
        let lowest = Argon2Hash.Cost(variant: .argon2id, version: 19, memoryKiB: 8, passes: 1, lanes: 1)
        return PasswordHasher(accepting: [lowest], verified: verified)
    }
}
