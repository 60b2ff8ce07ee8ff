import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// An application that has shown who it is, as far as its type can.
///
/// Only the server makes one, of a request. A public client is identified, never authenticated (RFC 6749 §2.1).
public struct AuthenticatedClient: Sendable {
    /// The application.
    public let client: RegisteredClient

    fileprivate init(_ client: RegisteredClient) { self.client = client }
}

/// Finds out which application asks (RFC 6749 §2.3 and §3.2.1).
struct ClientAuthenticator: Sendable {
    let issuer: Issuer
    let store: any ClientStore & HousekeepingStore
    let assertions: ClientAssertionVerifier
    let throttle: ClientThrottle
    let auditor: Auditor
    let wallClock: @Sendable () -> Date

    /// Authenticates the client that sends a form.
    func authenticate(
        _ request: IncomingRequest, form: FormParameters, now: Date
    ) async throws -> AuthenticatedClient {
        guard let claim = try ClientClaim(request, form) else {
            throw OAuthError(.invalidRequest, "the parameter client_id is missing")
        }
        return try await authenticate(claim, by: request, now: now)
    }

    func authenticate(
        _ claim: ClientClaim, by request: IncomingRequest, now: Date
    ) async throws -> AuthenticatedClient {
        try await limited(claim, by: request, now: now) {
            let client = try await store.client(claim.clientID)
            switch claim.proof {
            case .secret(let presented):
                // An unknown name costs what a wrong secret costs: the same questions to the store, the same comparison.
                let secrets = try await store.clientSecrets(of: claim.clientID)
                return try withSecret(presented, client, secrets, claim)
            case .assertion(let assertion): return try await withAssertion(assertion, client, claim, now: now)
            case .none: return try withNothing(client, claim)
            }
        }
    }

    /// Judges what somebody says of himself.
    ///
    /// What is refused counts and is noted, whether anybody has the name or not: it costs the same. After too much of it at one
    /// address nothing that is wrong is told so any more. What is right is never kept waiting by what others try: nobody guesses
    /// 256 bits.
    func limited<Asker>(
        _ claim: ClientClaim, by request: IncomingRequest, now: Date, judge: () async throws -> Asker
    ) async throws -> Asker {
        do { return try await judge() } catch let refusal as ClientRefusal {
            // Whose name it is, is what was said, true or not; what is said at length is nobody's.
            let name = ClientIdentifier(String(claim.clientID.rawValue.prefix(Self.notedNameLimit)))
            if claim.isGuess {
                let source = request.countedSource(issuer)
                do throws(ClientThrottle.TooMany) {
                    try throttle.noteFailure(of: claim.clientID, from: source, now: now)
                } catch {
                    await auditor.note(
                        .throttled, .refused, by: request, client: name, detail: "authentication of applications",
                        now: now)
                    throw error
                }
            }
            await auditor.note(
                .clientAuthentication, .refused, by: request, client: name, detail: refusal.error.reason, now: now)
            throw refusal
        }
    }

    /// How many characters of a name are noted that nobody has authenticated by.
    private static let notedNameLimit = 128

    private func withSecret(
        _ presented: ClientSecret?, _ client: RegisteredClient?, _ secrets: [ClientSecretRecord], _ claim: ClientClaim
    ) throws -> AuthenticatedClient {
        let isRight = isSecret(presented, among: secrets)
        // RFC 8252 §8.5: nothing that is sent to every copy of an application proves anything.
        if client?.type.isConfidential == false { throw claim.refusal(Self.hasNoSecret) }
        // OpenID Connect Core §9: by the method that is registered, and by no other.
        if client?.keys != nil { throw claim.refusal(Self.hasKeys, asksForAuthentication: true) }
        guard let client, isRight else {
            throw claim.refusal(Self.wrongSecret, asksForAuthentication: true)
        }
        return AuthenticatedClient(client)
    }

    /// RFC 7523 §3.
    private func withAssertion(
        _ assertion: String, _ client: RegisteredClient?, _ claim: ClientClaim, now: Date
    ) async throws -> AuthenticatedClient {
        guard let client else { throw claim.refusal(ClientClaim.unknownClient) }
        guard client.type.isConfidential else { throw claim.refusal(Self.hasNoSecret) }
        guard let keys = client.keys else {
            throw claim.refusal(Self.mustAuthenticate, asksForAuthentication: true)
        }
        let wall = wallClock()
        let verified: VerifiedClientAssertion
        do { verified = try assertions.verify(assertion, of: client.id, keys: keys, at: wall) } catch {
            throw claim.refusal(
                "the client_assertion is not accepted: \(error)", asksForAuthentication: true)
        }
        // RFC 7523 §3 point 7: once. It is remembered for as long as it lasts, and beyond, in case the clock on the wall is
        // set back.
        let left = max(0, verified.expires.timeIntervalSince(wall))
        let isNew = try await store.noteAssertion(
            ArtefactDigest(ofAssertion: verified.tokenID, of: client.id),
            expires: now.addingTimeInterval(left + Self.clockSetBack), now: now)
        guard isNew else {
            throw claim.refusal("the client_assertion was used before", asksForAuthentication: true)
        }
        return AuthenticatedClient(client)
    }

    private func withNothing(_ client: RegisteredClient?, _ claim: ClientClaim) throws -> AuthenticatedClient {
        guard let client else { throw claim.refusal(ClientClaim.unknownClient) }
        // RFC 6749 §3.2.1: a confidential client must authenticate.
        guard !client.type.isConfidential else {
            throw claim.refusal(
                client.keys == nil ? Self.mustAuthenticate : Self.hasKeys, asksForAuthentication: true)
        }
        return AuthenticatedClient(client)
    }

    /// By how much the clock on the wall may be set back, in seconds, without an assertion counting twice: an hour and the skew.
    private static let clockSetBack: TimeInterval = 3660

    private static let hasNoSecret = "this application has no secret; send client_id alone"
    private static let hasKeys = "this application must authenticate with a client_assertion, signed with its key"
    private static let wrongSecret = "there is no application with this client_id and client_secret"
    private static let mustAuthenticate = "this application must authenticate with its client_secret"

    /// Compares with every secret that the application has, in a time that does not tell which one it was.
    private func isSecret(_ presented: ClientSecret?, among secrets: [ClientSecretRecord]) -> Bool {
        guard let digest = presented.map({ ArtefactDigest(of: $0) }) else { return false }
        return secrets.reduce(false) { found, secret in
            let equal = ConstantTime.equals(secret.digest.bytes, digest.bytes)
            return found || equal
        }
    }
}
