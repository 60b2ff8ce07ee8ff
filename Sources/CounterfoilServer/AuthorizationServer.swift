package import CounterfoilProtocol
import CounterfoilTokens
package import Foundation
import HTTPTypes
public import Logging

/// The authorization server: a request goes in at an endpoint, an answer comes out.
///
/// It knows no web framework and no database. Whatever goes wrong becomes an answer here and nowhere else.
public struct AuthorizationServer: Sendable {
    /// What the operator has set.
    public let settings: ServerSettings

    private let store: any AuthorizationServerStore
    private let keys: KeyRing
    private let logger: Logger
    private let clock: @Sendable () -> Date
    private let random: RandomBytes
    private let setupLink = SetupLink()

    private let metadata: MetadataEndpoint
    private let authorization: AuthorizationEndpoint
    private let signIn: SignInEndpoint
    private let consent: ConsentEndpoint
    private let token: TokenEndpoint
    private let setup: SetupEndpoint

    /// Puts a server together.
    public init(
        settings: ServerSettings,
        store: any AuthorizationServerStore,
        serverKey: ServerKey,
        keys: KeyRing,
        hasher: PasswordHasher,
        logger: Logger
    ) {
        self.init(
            settings: settings, store: store, serverKey: serverKey, keys: keys, hasher: hasher, logger: logger,
            clock: { Date() }, random: RandomBytes()
        )
    }

    /// Puts a server together with a clock and random bytes that a test knows.
    package init(
        settings: ServerSettings,
        store: any AuthorizationServerStore,
        serverKey: ServerKey,
        keys: KeyRing,
        hasher: PasswordHasher,
        logger: Logger,
        clock: @escaping @Sendable () -> Date,
        random: RandomBytes
    ) {
        self.settings = settings
        self.store = store
        self.keys = keys
        self.logger = logger
        self.clock = clock
        self.random = random

        let cookies = Cookies(issuer: settings.issuer)
        let flow = AuthorizationFlow(settings: settings, store: store, random: random)
        let sessions = SessionKeeper(store: store, settings: settings, cookies: cookies, random: random)
        let pages = AuthorizationPages(
            settings: settings, store: store, tickets: TicketAuthority(key: serverKey.tickets), cookies: cookies,
            random: random
        )
        metadata = MetadataEndpoint(settings: settings)
        authorization = AuthorizationEndpoint(flow: flow, pages: pages, sessions: sessions)
        signIn = SignInEndpoint(
            flow: flow, pages: pages, sessions: sessions,
            people: SignIn(store: store, hasher: hasher, throttle: SignInThrottle(limits: settings.signInLimits))
        )
        consent = ConsentEndpoint(flow: flow, pages: pages, sessions: sessions)
        token = TokenEndpoint(
            authenticator: ClientAuthenticator(store: store),
            store: store,
            issuer: TokenIssuer(settings: settings, keys: keys, random: random)
        )
        setup = SetupEndpoint(settings: settings, store: store, hasher: hasher, link: setupLink)
    }

    /// The address of a page that makes the first administrator, once; nil when there is an administrator.
    ///
    /// Each call makes a new address and ends the former.
    public func openSetup() async throws(StoreFault) -> String? {
        guard try await !store.hasAdministrator() else { return nil }
        return settings.issuer.endpoint(Endpoint.setup.path) + "?token=" + setupLink.renew(random: random)
    }

    /// Answers a request; never throws.
    public func respond(to request: IncomingRequest, at endpoint: Endpoint) async -> Reply {
        guard endpoint.methods.contains(request.head.method) else {
            return Reply(.methodNotAllowed, fields: [.allow: endpoint.methods.map(\.rawValue).joined(separator: ", ")])
        }
        do {
            return try await answer(request, at: endpoint)
        } catch {
            let refusal = Refusal(error, settings: settings, requestID: request.id)
            refusal.log(to: logger, request: request, endpoint: endpoint)
            return refusal.reply(as: endpoint.answersPeople ? .page : .json)
        }
    }

    private func answer(_ request: IncomingRequest, at endpoint: Endpoint) async throws -> Reply {
        let now = clock()
        switch endpoint {
        case .liveness:
            return Reply(.ok, .json(Array(#"{"status":"alive"}"#.utf8)))
        case .readiness:
            _ = try await store.scopes()
            return Reply(.ok, .json(Array(#"{"status":"ready"}"#.utf8)))
        case .metadata:
            return try metadata.respond()
        case .keySet:
            return Reply(
                .ok, .json(keys.publicKeys.encoded()),
                fields: [.cacheControl: "public, max-age=300", .accessControlAllowOrigin: "*"]
            )
        case .authorization: return try await authorization.respond(to: request, now: now)
        case .signIn: return try await signIn.respond(to: request, now: now)
        case .consent: return try await consent.respond(to: request, now: now)
        case .token: return try await token.respond(to: request, now: now)
        case .setup: return try await setup.respond(to: request, now: now)
        }
    }
}
