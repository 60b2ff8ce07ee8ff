import CounterfoilProtocol
package import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The client that sent a request; if it is confidential, it has authenticated.
///
/// Only ``ClientAuthenticator`` creates one. A public client is identified by its `client_id`, but never
/// authenticated (RFC 6749 §2.1).
package struct AuthenticatedClient: Sendable {
    package let client: RegisteredClient

    fileprivate init(_ client: RegisteredClient) { self.client = client }
}

/// Authenticates the client of a request (RFC 6749 §2.3 and §3.2.1).
struct ClientAuthenticator: Sendable {
    let issuer: Issuer
    let registry: CachedRegistry
    let store: any ClientAssertionStore
    let directory: ClientDirectory
    let assertions: ClientAssertionVerifier
    /// The space that used assertions take in the store until they expire.
    let used: ProofBudget
    let throttle: ClientThrottle
    let auditor: Auditor
    let wallClock: @Sendable () -> Date

    /// Authenticates the client by the `Authorization` field or the parameters of a form; throws `invalid_request` if
    /// the request identifies no client.
    ///
    /// - Parameters:
    ///   - phase: The part of the protocol to which the request belongs. The client can be one of which the server
    ///     knows only the document (``ClientDirectory``).
    ///   - requesting: The client that the request names, which is recorded before its credentials are checked.
    func authenticate(
        _ request: IncomingRequest, form: FormParameters, on phase: ClientDirectory.RequestPhase = .continuing,
        now: Date,
        client requesting: inout RequestingClient
    ) async throws -> AuthenticatedClient {
        guard let claim = try PresentedClientCredentials(request, form) else {
            throw OAuthError(.invalidRequest, "the parameter client_id is missing")
        }
        return try await authenticate(claim, by: request, on: phase, now: now, client: &requesting)
    }

    func authenticate(
        _ claim: PresentedClientCredentials, by request: IncomingRequest,
        on phase: ClientDirectory.RequestPhase = .continuing,
        now: Date, client requesting: inout RequestingClient
    ) async throws -> AuthenticatedClient {
        let authenticated = try await limited(claim, by: request, now: now) {
            let client = try await self.client(of: claim, in: request, on: phase, now: now)
            if let client { requesting = .registered(client) }
            switch claim.proof {
            case .secret(let presented):
                // For an unknown client_id, the same queries run as for a wrong secret, so that the response time
                // does not reveal which clients exist.
                let secrets = try await registry.atArrival().clientSecrets(of: claim.clientID)
                return try withSecret(presented, client, secrets, claim)
            case .assertion(let assertion):
                return try await withAssertion(assertion, client, claim, by: request, now: now)
            case .none: return try withNothing(client, claim)
            }
        }
        do { try authenticated.client.checkStanding(on: phase) } catch {
            throw ClientRequestError(error, clientID: claim.clientID)
        }
        return authenticated
    }

    private func client(
        of claim: PresentedClientCredentials, in request: IncomingRequest, on phase: ClientDirectory.RequestPhase,
        now: Date
    ) async throws -> RegisteredClient? {
        do {
            return try await directory.client(claim.clientID, on: phase, of: request, now: now)
        } catch let refusal as ClientDocumentRefusal {
            guard refusal.mayPass else { throw claim.refusal("\(refusal)") }
            throw ClientRequestError(refusal, clientID: claim.clientID)
        }
    }

    /// Runs a check of presented credentials, and counts and audits its failure.
    ///
    /// A failure counts even if no client has the presented identifier, so that the response time does not reveal
    /// which clients exist.
    ///
    /// After too many failures from one IP address, further wrong credentials get the error
    /// ``ClientThrottle/TooMany`` instead of the reason.
    ///
    /// Correct credentials are always accepted, whatever the number of failures. The limits need not protect
    /// the secrets, because 256 random bits cannot be guessed.
    func limited<Asker>(
        _ claim: PresentedClientCredentials, by request: IncomingRequest, now: Date, judge: () async throws -> Asker
    ) async throws -> Asker {
        do {
            return try await judge()
        } catch let refusal as ClientRefusal {
            if claim.isGuess {
                let source = request.countedSource(issuer)
                do throws(ClientThrottle.TooMany) {
                    try throttle.noteFailure(of: claim.clientID, from: source, now: now)
                } catch {
                    await auditor.refuse(
                        .throttled, because: .throttledSource, request, client: claim.clientID,
                        detail: "client authentication", now: now)
                    throw ClientRequestError(error, clientID: claim.clientID)
                }
            }
            await auditor.refuse(
                .clientAuthentication, because: AuditEvent.Reason(refusal.error.code), request, client: claim.clientID,
                detail: refusal.error.reason, now: now)
            throw refusal
        }
    }

    /// Compares a presented secret with those of the client.
    ///
    /// The response has a challenge only if the client used the `Authorization` field (RFC 6749 §5.2), for an unknown
    /// client as for a wrong secret. A client that posts its secret would take a challenge for an offer of Basic.
    private func withSecret(
        _ presented: ClientSecret?, _ client: RegisteredClient?, _ secrets: [ClientSecretRecord],
        _ claim: PresentedClientCredentials
    ) throws -> AuthenticatedClient {
        let isRight = isSecret(presented, among: secrets)
        // RFC 8252 §8.5: a secret that every copy of an app contains does not authenticate a client.
        if client?.isConfidential == false { throw claim.refusal(Self.hasNoSecret) }
        // OpenID Connect Core §9: a client authenticates with its registered method only.
        if client?.keys != nil { throw claim.refusal(Self.hasKeys) }
        guard let client, isRight else { throw claim.refusal(Self.wrongSecret) }
        return AuthenticatedClient(client)
    }

    /// Verifies a client assertion (RFC 7523 §3).
    private func withAssertion(
        _ assertion: String, _ client: RegisteredClient?, _ claim: PresentedClientCredentials,
        by request: IncomingRequest, now: Date
    ) async throws -> AuthenticatedClient {
        let source = request.countedSource(issuer)
        guard let client else { throw claim.refusal(PresentedClientCredentials.unknownClient) }
        guard client.isConfidential else { throw claim.refusal(Self.hasNoSecret) }
        guard let keys = try await directory.keys(of: client, from: source, now: now) else {
            throw claim.refusal(Self.mustAuthenticate)
        }
        let wall = wallClock()
        let verified: VerifiedClientAssertion
        do {
            verified = try await verify(assertion, of: client, keys: keys, from: source, at: wall, now: now)
        } catch let error as TokenRefusal {
            throw claim.refusal("the client_assertion is invalid: \(error)")
        }
        // RFC 7523 §3 point 7: an assertion can be used only once. Its digest is stored for longer than its
        // lifetime, because the wall clock may be set back.
        let left = max(0, verified.expires.timeIntervalSince(wall))
        let expires = now.addingTimeInterval(left + Self.clockSetBack)
        let holder = ProofHolder.client(client, at: source)
        guard try await noteUse(of: verified, by: holder, until: expires, for: request.context, now: now) else {
            throw claim.refusal("the client_assertion was used before")
        }
        return AuthenticatedClient(client)
    }

    /// Notes the use of an assertion; returns false if it was used before, and throws ``TooManyAssertions`` if its
    /// holder has no space left.
    private func noteUse(
        of assertion: VerifiedClientAssertion, by holder: ProofHolder, until expires: Date,
        for request: RequestContext, now: Date
    ) async throws -> Bool {
        guard used.take(of: holder, until: expires, at: now) else { throw TooManyAssertions() }
        let attempt = CommitAttempt()
        do {
            let isNew = try await RepeatedCommit.send(for: request) { () async throws(StoreFault) in
                try await store.noteAssertion(
                    ArtefactDigest(ofAssertion: assertion.tokenID, of: assertion.clientID), expires: expires,
                    attempt: attempt, now: now)
            }
            if !isNew { used.giveBack(of: holder, until: expires) }
            return isNew
        } catch {
            used.giveBack(of: holder, until: expires)
            throw error
        }
    }

    /// The error for an assertion whose use cannot be noted, because the holder has used too many.
    private struct TooManyAssertions: Refusing {
        var refusal: Refusal {
            Refusal(
                .serviceUnavailable, .temporarilyUnavailable, .tooBusy,
                description: "the server cannot accept more client assertions of this client at present; try again in "
                    + "60 seconds, and use an access token until it expires",
                retryAfter: 60, refusedBecause: .throttledClient)
        }
    }

    /// Verifies an assertion with the known keys of a client, and then with those that it publishes now.
    private func verify(
        _ assertion: String, of client: RegisteredClient, keys: JSONWebKeySet, from source: CountedSource?,
        at wall: Date, now: Date
    ) async throws -> VerifiedClientAssertion {
        var keys = keys
        let verified: VerifiedClientAssertion
        do { verified = try assertions.verify(assertion, of: client.id, keys: keys, at: wall) } catch {
            let published = try await directory.keys(of: client, from: source, afterFailure: true, now: now)
            guard let published, published != keys else { throw error }
            keys = published
            verified = try assertions.verify(assertion, of: client.id, keys: keys, at: wall)
        }
        try await directory.note(keys, of: client, now: now)
        return verified
    }

    private func withNothing(_ client: RegisteredClient?, _ claim: PresentedClientCredentials) throws
        -> AuthenticatedClient
    {
        guard let client else { throw claim.refusal(PresentedClientCredentials.unknownClient) }
        // RFC 6749 §3.2.1: a confidential client must authenticate.
        guard !client.isConfidential else {
            // A challenge of Basic does not apply to a client that authenticates with a key (RFC 9110 §11.6.1).
            guard client.keys == nil else { throw claim.refusal(Self.hasKeys) }
            throw claim.refusal(Self.mustAuthenticate, asksForAuthentication: true)
        }
        return AuthenticatedClient(client)
    }

    /// The number of seconds by which the wall clock may be set back without an assertion being accepted twice:
    /// one hour, and one minute of clock skew.
    private static let clockSetBack: TimeInterval = 3660

    private static let hasNoSecret = "this is a public client without a secret; send client_id alone"
    private static let hasKeys = "this client must authenticate with a client_assertion that its key has signed"
    private static let wrongSecret = "the client_id or the client_secret is wrong"
    private static let mustAuthenticate = "this client must authenticate with its client_secret"

    /// Compares a presented secret with every secret of a client, in a time that does not depend on which one
    /// matches.
    private func isSecret(_ presented: ClientSecret?, among secrets: [ClientSecretRecord]) -> Bool {
        guard let digest = presented.map({ ArtefactDigest(of: $0) }) else { return false }
        return secrets.reduce(false) { found, secret in
            let equal = ConstantTime.equals(secret.digest.bytes, digest.bytes)
            return found || equal
        }
    }
}
