import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// An authenticated caller of the introspection endpoint (RFC 7662 §2.1).
///
/// Only ``IntrospectionAuthenticator`` creates one, for a single request.
enum IntrospectionCaller: Sendable {
    /// An API, which may introspect the tokens that have the API in their audience.
    case resource(RegisteredResource)
    /// A confidential client, which may introspect the tokens that were issued to it.
    case client(RegisteredClient)

    /// The `client_id` with which the caller has authenticated.
    var clientID: ClientIdentifier {
        switch self {
        case .resource(let resource): resource.clientID
        case .client(let client): client.id
        }
    }
}

/// The authentication of callers of the introspection endpoint; a failure is answered with 401 (RFC 7662 §2.1
/// and §2.3).
struct IntrospectionAuthenticator: Sendable {
    let clients: ClientAuthenticator
    let registry: CachedRegistry

    func authenticate(
        _ request: IncomingRequest, form: FormParameters, now: Date
    ) async throws -> IntrospectionCaller {
        guard let claim = try PresentedClientCredentials(request, form) else { throw Self.refusal(of: nil) }
        if RegisteredResource.isIdentifier(claim.clientID) {
            return .resource(try await resource(claim, request, now: now))
        }
        // Scripts of other origins cannot call this endpoint, so the recorded client is not used.
        var requesting = RequestingClient.unknown
        let client: RegisteredClient
        do {
            client = try await clients.authenticate(claim, by: request, now: now, client: &requesting).client
        } catch let refusal as ClientRefusal {
            throw ClientRefusal(refusal.error, asksForAuthentication: true, clientID: refusal.clientID)
        }
        // A `client_id` alone is not authentication, because it is public.
        guard client.isConfidential else { throw Self.refusal(of: claim) }
        return .client(client)
    }

    private func resource(
        _ claim: PresentedClientCredentials, _ request: IncomingRequest, now: Date
    ) async throws -> RegisteredResource {
        try await clients.limited(claim, by: request, now: now) {
            let resource = try await registry.atArrival().resource(authenticatingAs: claim.clientID)
            guard case .secret(let presented?) = claim.proof else { throw Self.refusal(of: claim) }
            // For an unknown identifier, the secret is compared with a random one. The response time therefore does
            // not reveal which APIs exist.
            let isRight = ConstantTime.equals(
                (resource?.secret ?? Self.unknownCaller).bytes, ArtefactDigest(of: presented).bytes)
            guard let resource, isRight else {
                throw ClientRefusal(
                    OAuthError(.invalidClient, "the client_id is unknown or the client_secret is wrong"),
                    asksForAuthentication: true, clientID: claim.clientID)
            }
            return resource
        }
    }

    private static let unknownCaller = ArtefactDigest(of: ClientSecret())

    private static func refusal(of claim: PresentedClientCredentials?) -> ClientRefusal {
        ClientRefusal(
            OAuthError(.invalidClient, "authenticate as an API or a confidential client"),
            asksForAuthentication: true, clientID: claim?.clientID)
    }
}
