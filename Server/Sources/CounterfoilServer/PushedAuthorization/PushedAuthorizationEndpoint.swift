import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The endpoint `/oauth2/par` (RFC 9126 §2), to which a client posts an authorization request before it opens the
/// browser.
///
/// The request passes the same checks as one in the query of the authorization endpoint, which repeats them when a
/// browser opens the request.
struct PushedAuthorizationEndpoint: Sendable {
    let authenticator: ClientAuthenticator
    let flow: AuthorizationFlow
    let proofs: DPoPProofs

    /// The maximum number of requests of one client that are not yet completed.
    static let limit = 10_000
    /// The maximum number of such requests from one IP address, for a client that does not authenticate.
    static let limitPerSource = 500
    /// The maximum number of such requests of all clients with documents.
    static let documentLimit = 5000

    var handlers: [EndpointHandler] { [EndpointHandler(.pushedAuthorization, ofClients: respond)] }

    func respond(to request: IncomingRequest, now: Date, client: inout RequestingClient) async throws -> Reply {
        // RFC 6749 §2.3.1: credentials must not be in the URL, so the query is ignored.
        let form = try request.form()
        let sender = try await authenticator.authenticate(
            request, form: form, on: .beginning, now: now, client: &client
        ).client
        return try await ClientRequestError.attributing(to: sender.id) {
            let proof = try proofs.proof(in: request, at: .pushedAuthorization)
            let parameters = try Self.parameters(of: form, binding: proof)
            try await check(parameters, pushedBy: sender, now: now)
            let uri = PushedRequestURI(random: flow.random)
            try await store(parameters, as: uri, of: sender, by: request, now: now)
            // A request beyond the limits uses up no proof, and one with a used proof leaves no pushed request.
            do {
                if let proof { try await proofs.use(proof, of: holder(of: proof, sender, request)) }
            } catch {
                try await flow.store.removePushedRequest(ArtefactDigest(of: uri))
                throw error
            }
            let response = PushedAuthorizationResponse(uri, lifetime: flow.settings.pushedRequestLifetime)
            return Reply(.created, .json(try response.encoded()))
        }
    }

    /// Returns the parameters of the authorization request: those of the form without the credentials of the client.
    ///
    /// RFC 9449 §10.1: a proof in the request has the effect of `dpop_jkt`. If the request has both, they must agree.
    private static func parameters(
        of form: FormParameters, binding proof: VerifiedDPoPProof?
    ) throws(OAuthError) -> FormParameters {
        // RFC 9126 §2.1: a pushed request cannot refer to another one.
        guard form.all("request_uri").isEmpty else {
            throw OAuthError(.invalidRequest, "a pushed authorization request must not contain request_uri")
        }
        let credentials: Set = ["client_secret", "client_assertion", "client_assertion_type"]
        var parameters = FormParameters(form.pairs.filter { !credentials.contains($0.name) })
        if let proof {
            let named = parameters.all("dpop_jkt")
            guard named.allSatisfy({ $0 == proof.thumbprint.rawValue }) else {
                throw OAuthError(.invalidDPoPProof, "dpop_jkt does not name the key of the DPoP proof")
            }
            if named.isEmpty { parameters.append("dpop_jkt", proof.thumbprint.rawValue) }
        }
        return parameters
    }

    /// Checks a pushed request as the authorization endpoint checks one in a query (RFC 9126 §2.1).
    private func check(_ parameters: FormParameters, pushedBy client: RegisteredClient, now: Date) async throws {
        do {
            let parsed = try ParsedAuthorizationRequest(parameters)
            guard parsed.target.clientID == client.id else {
                throw OAuthError(.invalidRequest, "client_id is not that of the authenticated client")
            }
            flow.audiences.note(parsed.audience, of: client.id, at: .pushedAuthorization, now: now)
            let target = try AuthorizationValidation.target(of: parsed, client: client, settings: flow.settings)
            do { _ = try await flow.judge(target, now: now) } catch let error as OAuthError {
                throw parsed.explaining(error)
            }
        } catch let error as ResponseTargetError {
            if case .cannotSignIn = error { throw OAuthError(.unauthorizedClient, "\(error)") }
            // RFC 9126 §2.4: a redirect URI that is not registered is refused for every client.
            throw OAuthError(.invalidRequest, "\(error)")
        }
    }

    private func holder(
        of proof: VerifiedDPoPProof, _ client: RegisteredClient, _ request: IncomingRequest
    ) -> ProofHolder {
        // Anyone can push in the name of a public client, or register a client with a secret where that is allowed.
        let isAnyone = !client.isConfidential || client.isUnregistered
        let source = request.countedSource(flow.settings.issuer)
        let holder: ProofHolder = isAnyone ? .anyone(at: source, with: proof.thumbprint) : .client(client)
        return holder.withoutGrant()
    }

    private func store(
        _ parameters: FormParameters, as uri: PushedRequestURI, of client: RegisteredClient,
        by request: IncomingRequest, now: Date
    ) async throws {
        let pushed = PushedRequest(
            digest: ArtefactDigest(of: uri), clientID: client.id, parameters: parameters.encoded,
            source: request.countedSource(flow.settings.issuer)?.name, pushedAt: now,
            expiresAt: now.addingTimeInterval(TimeInterval(flow.settings.pushedRequestLifetime)))
        // Anyone can push in the name of a public client, so one address must not use up the limit of the client.
        let limits = PushedRequestLimits(
            ofClient: client.source.kind == .document ? Self.documentLimit : Self.limit,
            // Everyone can also publish a document with a key.
            fromSource: client.isConfidential && client.source.kind != .document ? nil : Self.limitPerSource)
        switch try await flow.store.addPushedRequest(pushed, within: limits) {
        case .added: return
        case .clientDeleted: throw OAuthError(.invalidClient, PresentedClientCredentials.unknownClient)
        case .tooMany(let until):
            await flow.auditor.refuse(
                .throttled, because: .throttledClient, request, client: client.id,
                detail: "pushed authorization requests", now: now)
            throw TooMany(retryAfter: max(1, Int(until.timeIntervalSince(now).rounded(.up))))
        }
    }

    /// The error for a client with too many requests that are not yet completed (RFC 9126 §2.3).
    struct TooMany: Refusing {
        let retryAfter: Int

        var refusal: Refusal {
            Refusal(
                .tooManyRequests, .temporarilyUnavailable, .tooBusy,
                description: "too many pushed authorization requests; try again in \(retryAfter) seconds",
                retryAfter: retryAfter)
        }
    }
}

/// A successful response of the endpoint (RFC 9126 §2.2).
private struct PushedAuthorizationResponse: Encodable {
    let requestURI: String
    let expiresIn: Int

    init(_ uri: PushedRequestURI, lifetime: Int) {
        requestURI = uri.rawValue
        expiresIn = lifetime
    }

    private enum CodingKeys: String, CodingKey {
        case requestURI = "request_uri"
        case expiresIn = "expires_in"
    }

    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}
