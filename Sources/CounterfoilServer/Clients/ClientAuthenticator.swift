import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// A client that a request has identified, and authenticated if its type can authenticate.
///
/// Only the server creates one, from a request. A public client is identified, never authenticated
/// (RFC 6749 §2.1).
package struct AuthenticatedClient: Sendable {
    /// The client.
    package let client: RegisteredClient

    fileprivate init(_ client: RegisteredClient) { self.client = client }
}

/// Authenticates the client of a request (RFC 6749 §2.3 and §3.2.1).
struct ClientAuthenticator: Sendable {
    let issuer: Issuer
    let store: any ClientStore & ClientAssertionStore
    let assertions: ClientAssertionVerifier
    let throttle: ClientThrottle
    let auditor: Auditor
    let wallClock: @Sendable () -> Date

    /// Authenticates the client that sends a form.
    ///
    /// - Parameter facts: The facts of a refresh token that have just been read. They spare a read of the
    ///   same client.
    func authenticate(
        _ request: IncomingRequest, form: FormParameters, now: Date
    ) async throws -> AuthenticatedClient {
        guard let claim = try PresentedClientCredentials(request, form) else {
            throw OAuthError(.invalidRequest, "the parameter client_id is missing")
        }
        return try await authenticate(claim, by: request, now: now)
    }

    func authenticate(
        _ claim: PresentedClientCredentials, by request: IncomingRequest, now: Date
    ) async throws -> AuthenticatedClient {
        try await limited(claim, by: request, now: now) {
            let client = try await store.client(claim.clientID)
            switch claim.proof {
            case .secret(let presented):
                // An unknown client_id takes as long as a wrong secret: the same queries and the same comparison.
                let secrets = try await store.clientSecrets(of: claim.clientID)
                return try withSecret(presented, client, secrets, claim)
            case .assertion(let assertion): return try await withAssertion(assertion, client, claim, now: now)
            case .none: return try withNothing(client, claim)
            }
        }
    }

    /// Checks presented credentials, counts failures and records them in the audit log.
    ///
    /// A failure counts whether or not a client has the identifier, so that both cases take as long. After
    /// too many failures from one IP address, further wrong credentials get ``ClientThrottle/TooMany``
    /// instead of the reason. Right credentials are never throttled because of the failures of others: 256
    /// random bits cannot be guessed.
    func limited<Asker>(
        _ claim: PresentedClientCredentials, by request: IncomingRequest, now: Date, judge: () async throws -> Asker
    ) async throws -> Asker {
        do {
            return try await judge()
        } catch let refusal as ClientRefusal {
            // The identifier is the presented one, verified or not. It is cut at the limit: no registered
            // client has a longer one.
            let name = ClientIdentifier(String(claim.clientID.rawValue.prefix(Self.notedNameLimit)))
            if claim.isGuess {
                let source = request.countedSource(issuer)
                do throws(ClientThrottle.TooMany) {
                    try throttle.noteFailure(of: claim.clientID, from: source, now: now)
                } catch {
                    await auditor.note(
                        .throttled, .refused, by: request, client: name, detail: "client authentication",
                        now: now)
                    throw error
                }
            }
            await auditor.note(
                .clientAuthentication, .refused, by: request, client: name, detail: refusal.error.reason, now: now)
            throw refusal
        }
    }

    /// The most characters of an unauthenticated client identifier in the audit log.
    private static let notedNameLimit = 128

    private func withSecret(
        _ presented: ClientSecret?, _ client: RegisteredClient?, _ secrets: [ClientSecretRecord],
        _ claim: PresentedClientCredentials
    ) throws -> AuthenticatedClient {
        let isRight = isSecret(presented, among: secrets)
        // RFC 8252 §8.5: a secret that every copy of an app contains proves nothing.
        if client?.type.isConfidential == false { throw claim.refusal(Self.hasNoSecret) }
        // OpenID Connect Core §9: a client authenticates with its registered method only.
        if client?.keys != nil { throw claim.refusal(Self.hasKeys, asksForAuthentication: true) }
        guard let client, isRight else {
            throw claim.refusal(Self.wrongSecret, asksForAuthentication: true)
        }
        return AuthenticatedClient(client)
    }

    /// RFC 7523 §3.
    private func withAssertion(
        _ assertion: String, _ client: RegisteredClient?, _ claim: PresentedClientCredentials, now: Date
    ) async throws -> AuthenticatedClient {
        guard let client else { throw claim.refusal(PresentedClientCredentials.unknownClient) }
        guard client.type.isConfidential else { throw claim.refusal(Self.hasNoSecret) }
        guard let keys = client.keys else {
            throw claim.refusal(Self.mustAuthenticate, asksForAuthentication: true)
        }
        let wall = wallClock()
        let verified: VerifiedClientAssertion
        do {
            verified = try assertions.verify(assertion, of: client.id, keys: keys, at: wall)
        } catch {
            throw claim.refusal(
                "the client_assertion is invalid: \(error)", asksForAuthentication: true)
        }
        // RFC 7523 §3 point 7: an assertion counts once. Its digest is stored until it expires and beyond,
        // because the wall clock may be set back.
        let left = max(0, verified.expires.timeIntervalSince(wall))
        let isNew = try await store.noteAssertion(
            ArtefactDigest(ofAssertion: verified.tokenID, of: client.id),
            expires: now.addingTimeInterval(left + Self.clockSetBack), now: now)
        guard isNew else {
            throw claim.refusal("the client_assertion was used before", asksForAuthentication: true)
        }
        return AuthenticatedClient(client)
    }

    private func withNothing(_ client: RegisteredClient?, _ claim: PresentedClientCredentials) throws
        -> AuthenticatedClient
    {
        guard let client else { throw claim.refusal(PresentedClientCredentials.unknownClient) }
        // RFC 6749 §3.2.1: a confidential client must authenticate.
        guard !client.type.isConfidential else {
            throw claim.refusal(
                client.keys == nil ? Self.mustAuthenticate : Self.hasKeys, asksForAuthentication: true)
        }
        return AuthenticatedClient(client)
    }

    /// The seconds by which the wall clock may be set back without an assertion being accepted twice.
    ///
    /// One hour and the allowed clock skew.
    private static let clockSetBack: TimeInterval = 3660

    private static let hasNoSecret = "this is a public client without a secret; send client_id alone"
    private static let hasKeys = "this client must authenticate with a client_assertion that its key has signed"
    private static let wrongSecret = "the client_id or the client_secret is wrong"
    private static let mustAuthenticate = "this client must authenticate with its client_secret"

    /// Compares with every secret of the client, in a time that does not depend on which one matches.
    private func isSecret(_ presented: ClientSecret?, among secrets: [ClientSecretRecord]) -> Bool {
        guard let digest = presented.map({ ArtefactDigest(of: $0) }) else { return false }
        return secrets.reduce(false) { found, secret in
            let equal = ConstantTime.equals(secret.digest.bytes, digest.bytes)
            return found || equal
        }
    }
}
