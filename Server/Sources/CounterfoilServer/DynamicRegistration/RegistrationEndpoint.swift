import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The endpoint `/oauth2/register`, at which a client registers itself (RFC 7591 §3).
struct RegistrationEndpoint: Sendable {
    /// The maximum number of registered clients to which no user has allowed anything yet.
    static let unusedLimit = 10_000

    let settings: ServerSettings
    let registry: CachedRegistry
    let store: any UncachedStore
    let sectors: SectorIdentifier
    let limits: RegistrationLimits
    let auditor: Auditor
    let random: RandomBytes

    var handlers: [EndpointHandler] { [EndpointHandler(.registration, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        let registry = try await registry.atArrival()
        let policy = try await registry.effectiveUnregisteredClientPolicy(settings)
        guard policy.kinds.contains(.registration) else { throw NotAccepted(status: .notFound) }
        let hasToken = try await checkToken(of: request, under: policy, now: now)
        let asked = try RegistrationRequest(request)
        let rules = UnregisteredClientRules(
            settings: settings, policy: policy, definitions: try await registry.scopes())
        var registration = try rules.registration(asked, id: ClientIdentifier(random: random), now: now)
        try await limits.count(request, hasToken: hasToken, now: now)
        try await sectors.check(registration, now: now)
        let token = RegistrationAccessToken(random: random)
        registration.client.source = .registration(
            DynamicRegistration(
                metadata: try JSONValue.object(registration.members).encoded(), accessToken: ArtefactDigest(of: token)))
        registration.client.approval = settings.newClients.approval(ofKind: .registration)
        let secret = registration.usesSecret ? ClientSecret(random: random) : nil
        try await add(registration.client, secret: secret, by: request, now: now)
        let response = RegistrationResponse(
            registration.client, members: registration.members, secret: secret, accessToken: token)
        return Reply(.created, .json(try response.encoded(settings.issuer)))
    }

    /// Checks the initial access token (RFC 7591 §3), and returns false if there is none and the policy requires none.
    private func checkToken(
        of request: IncomingRequest, under policy: UnregisteredClientPolicy, now: Date
    ) async throws -> Bool {
        guard let presented = try request.registrationToken() else {
            guard !policy.requiresInitialAccessToken else {
                throw RegistrationTokenRefusal(
                    OAuthError(
                        .invalidToken,
                        "a registration needs an initial access token; ask the operator of this server for one"),
                    isMissing: true)
            }
            return false
        }
        let digest = ArtefactDigest(of: InitialAccessTokenText(presented))
        guard try await store.initialAccessToken(digest, at: now) != nil else {
            try await limits.noteForgery(request, now: now)
            throw RegistrationTokenRefusal(
                OAuthError(.invalidToken, "the initial access token is unknown, expired or deleted"))
        }
        return true
    }

    private func add(
        _ client: RegisteredClient, secret: ClientSecret?, by request: IncomingRequest, now: Date
    ) async throws {
        let record = secret.map {
            ClientSecretRecord(digest: ArtefactDigest(of: $0), clientID: client.id, createdAt: now)
        }
        let event = auditor.event(
            .client, by: request, client: client.id, detail: "registered itself, type \(client.type.rawValue)",
            now: now
        ).named(.clientCreated)
        let outcome = try await store.addSelfRegisteredClient(
            client, secret: record, unusedLimit: Self.unusedLimit, recording: [event])
        switch outcome {
        case .added: auditor.countRecorded(event)
        case .tooMany:
            await auditor.refuse(
                .throttled, because: .throttledSource, request, detail: "unused registered clients", now: now)
            throw TooManyUnused()
        case .unknownScopes: throw TransientFailure(reason: "a scope was deleted during a registration")
        case .identifierTaken, .identifierBeingFreed:
            throw TransientFailure(reason: "a random client identifier was taken")
        case .ownerNotFound: throw StoreFault.damaged("a client without an owner was refused for its owner")
        }
    }

    /// The error for a registration, or for its change, at a server that does not accept registrations.
    struct NotAccepted: Refusing {
        let status: HTTPResponse.Status

        var refusal: Refusal {
            Refusal(
                OAuthError(.accessDenied, "this server does not accept registrations of clients by themselves"),
                status: status)
        }
    }

    /// The error when too many clients were registered and never used: 503 with `Retry-After`.
    struct TooManyUnused: Refusing {
        private static let retryAfter = 3600

        var refusal: Refusal {
            Refusal(
                .serviceUnavailable, .temporarilyUnavailable, .tooBusy,
                description: "too many registered clients were never used; try again later, or ask the operator of "
                    + "this server to register the client",
                retryAfter: Self.retryAfter)
        }
    }
}
