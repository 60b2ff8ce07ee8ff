import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The endpoint `/oauth2/register/{client_id}`, at which a client reads, changes and deletes its own registration
/// (RFC 7592 §2).
///
/// It authenticates with its `registration_access_token`, also if it has no secret.
struct RegisteredClientEndpoint: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let store: any UncachedStore
    let sectors: SectorIdentifier
    let limits: RegistrationLimits
    let auditor: Auditor

    /// A client that has presented its `registration_access_token`.
    private struct Owner {
        let client: RegisteredClient
        let registration: DynamicRegistration
        let token: RegistrationAccessToken
    }

    var handlers: [EndpointHandler] { [EndpointHandler(.registeredClient, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        let owner = try await owner(of: request, now: now)
        switch request.head.method {
        case .put: return try await replace(owner, by: request, now: now)
        case .delete: return try await delete(owner, by: request, now: now)
        default: return try reply(owner.client, owner.registration.members, owner.token)
        }
    }

    /// Finds the client of a request and compares its token (RFC 7592 §2).
    ///
    /// A token of another client and a client that does not exist get the same response.
    private func owner(of request: IncomingRequest, now: Date) async throws -> Owner {
        guard let presented = try request.registrationToken() else {
            throw RegistrationTokenRefusal(
                OAuthError(.invalidToken, "the registration_access_token is missing in the Authorization header"),
                isMissing: true)
        }
        let token = RegistrationAccessToken(presented)
        guard let id = request.parameters.clientID, let client = try await registry.atArrival().client(id),
            case .registration(let registration) = client.source,
            ConstantTime.equals(registration.accessToken.bytes, ArtefactDigest(of: token).bytes)
        else {
            try await limits.noteForgery(request, now: now)
            throw RegistrationTokenRefusal(
                OAuthError(.invalidToken, "the registration_access_token is not that of an existing client"))
        }
        return Owner(client: client, registration: registration, token: token)
    }

    private func reply(
        _ client: RegisteredClient, _ members: [String: JSONValue], _ token: RegistrationAccessToken
    ) throws -> Reply {
        let response = RegistrationResponse(client, members: members, accessToken: token)
        return Reply(.ok, .json(try response.encoded(settings.issuer)))
    }

    /// Replaces the registration; what the request omits is deleted (RFC 7592 §2.2).
    private func replace(_ owner: Owner, by request: IncomingRequest, now: Date) async throws -> Reply {
        let registry = try await registry.fresh()
        let policy = try await registry.effectiveUnregisteredClientPolicy(settings)
        guard policy.kinds.contains(.registration) else { throw RegistrationEndpoint.NotAccepted(status: .forbidden) }
        let asked = try RegistrationRequest(request)
        try RegistrationReplacement.check(
            asked, of: owner.client, secrets: try await registry.clientSecrets(of: owner.client.id))
        let rules = UnregisteredClientRules(
            settings: settings, policy: policy, definitions: try await registry.scopes())
        let registration = try rules.registration(asked, id: owner.client.id, replacing: owner.client, now: now)
        let source = DynamicRegistration(
            metadata: try JSONValue.object(registration.members).encoded(), accessToken: owner.registration.accessToken)
        let changed = try RegistrationReplacement(
            former: owner.client, registered: owner.registration, unapproved: settings.newClients
        ).client(replacedBy: registration, source, now: now)
        try await limits.count(request, of: owner.client.id, now: now)
        try await sectors.check(registration, now: now)
        let event = auditor.event(
            .client, by: request, client: owner.client.id, detail: "changed its own registration", now: now)
        switch try await store.updateClient(changed, logo: .keep, recording: [event]) {
        case .updated: auditor.countRecorded(event)
        case .changedMeanwhile: throw ChangedMeanwhile()
        case .unknownScopes: throw TransientFailure(reason: "a scope was deleted during a registration")
        case .notFound: throw Self.deleted
        }
        return try reply(changed, registration.members, owner.token)
    }

    /// Deletes the client with its secret, its grants and its tokens (RFC 7592 §2.3).
    private func delete(_ owner: Owner, by request: IncomingRequest, now: Date) async throws -> Reply {
        let event = auditor.event(
            .client, by: request, client: owner.client.id, detail: "deleted its own registration", now: now
        ).named(.clientDeleted)
        guard try await store.removeClient(owner.client.id, recording: [event]) else { throw Self.deleted }
        auditor.countRecorded(event)
        return Reply(.noContent)
    }

    /// The error when another request changed the client at the same time: 409 with `Retry-After`.
    struct ChangedMeanwhile: Refusing {
        var refusal: Refusal {
            Refusal(
                .conflict, .temporarilyUnavailable, .tooBusy,
                description: "another request changed the client at the same time; try again", retryAfter: 1)
        }
    }

    private static let deleted = RegistrationTokenRefusal(OAuthError(.invalidToken, "the client was deleted"))
}
