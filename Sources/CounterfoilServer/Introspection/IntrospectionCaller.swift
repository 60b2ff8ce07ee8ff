import CounterfoilProtocol
import Foundation

/// Who may ask about a token (RFC 7662 §2.1).
///
/// Only ``IntrospectionAuthenticator`` makes one for a request.
enum IntrospectionCaller: Sendable {
    /// An API, about the tokens that are for it.
    case resource(RegisteredResource)
    /// A confidential application, about the tokens that were issued to it.
    case client(RegisteredClient)

    /// By which name it has authenticated.
    var clientID: ClientIdentifier {
        switch self {
        case .resource(let resource): resource.clientID
        case .client(let client): client.id
        }
    }
}

/// Finds out who asks about a token; whoever does not authenticate gets 401 (RFC 7662 §2.1 and §2.3).
struct IntrospectionAuthenticator: Sendable {
    let clients: ClientAuthenticator
    let store: any ResourceStore

    func authenticate(
        _ request: IncomingRequest, form: FormParameters, now: Date
    ) async throws -> IntrospectionCaller {
        guard let claim = try ClientClaim(request, form) else { throw Self.refusal }
        if RegisteredResource.isIdentifier(claim.clientID) {
            return .resource(try await resource(claim, request, now: now))
        }
        let client: RegisteredClient
        do {
            client = try await clients.authenticate(claim, by: request, now: now).client
        } catch let refusal as ClientRefusal {
            throw ClientRefusal(refusal.error, asksForAuthentication: true)
        }
        // A name alone is no authentication: everybody knows it.
        guard client.type.isConfidential else { throw Self.refusal }
        return .client(client)
    }

    private func resource(
        _ claim: ClientClaim, _ request: IncomingRequest, now: Date
    ) async throws -> RegisteredResource {
        try await clients.limited(claim, by: request, now: now) {
            let resource = try await store.resource(authenticatingAs: claim.clientID)
            guard case .secret(let presented?) = claim.proof else { throw Self.refusal }
            // An unknown name costs what a wrong secret costs.
            let isRight = ConstantTime.equals(
                (resource?.secret ?? Self.nobodys).bytes, ArtefactDigest(of: presented).bytes)
            guard let resource, isRight else {
                throw ClientRefusal(
                    OAuthError(.invalidClient, "there is no API with this client_id and client_secret"),
                    asksForAuthentication: true)
            }
            return resource
        }
    }

    private static let nobodys = ArtefactDigest(of: ClientSecret())

    private static let refusal = ClientRefusal(
        OAuthError(
            .invalidClient, "authenticate with the client_id and client_secret of an API or a confidential application"),
        asksForAuthentication: true)
}
