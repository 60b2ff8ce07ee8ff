@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The verification of an access token in a request to a protected endpoint of this server, and of its DPoP proof.
///
/// It does not judge whether the grant of the token has ended (``TokenStanding``).
struct AccessTokenCheck: Sendable {
    let issuer: Issuer
    let accessTokens: VerifiedTokenCache
    let keys: any SigningKeys
    let proofs: DPoPProofs
    let throttle: ClientThrottle
    let auditor: Auditor
    let wallClock: @Sendable () -> Date

    /// Verifies a token of one of some audiences; records the client as soon as the signature is verified.
    ///
    /// - Parameters:
    ///   - token: The token of the request.
    ///   - audiences: The accepted values of `aud`, of which the first is the resource that an error names.
    ///   - request: The request.
    ///   - now: The time of the request.
    ///   - client: The client of the request.
    func verified(
        _ token: AccessToken, for audiences: [String], by request: IncomingRequest, now: Date,
        client: inout RequestingClient
    ) async throws -> AccessTokenClaims {
        do {
            return try verified(token, for: audiences, client: &client)
        } catch {
            if error.isForgery {
                do {
                    try throttle.noteForgery(from: request.countedSource(issuer), now: now)
                } catch {
                    await auditor.refuse(
                        .throttled, because: .throttledSource, request, detail: "access tokens", now: now)
                    throw error
                }
            }
            throw BearerRefusal(
                .invalidToken,
                error == .wrongAudience
                    ? "the access token has another audience; request one for the resource \(audiences[0])"
                    : "the access token is expired, revoked or invalid",
                reason: "\(error)")
        }
    }

    private func verified(
        _ token: AccessToken, for audiences: [String], client: inout RequestingClient
    ) throws(TokenRefusal) -> AccessTokenClaims {
        let issued = try accessTokens.verify(AnyToken(token.exposed), keys: keys.publicKeys)
        client = .ofToken(issued.claims.clientID)
        guard audiences.contains(where: { issued.claims.audience(equalTo: $0) != nil }) else { throw .wrongAudience }
        guard issued.isCurrent(at: wallClock()) else { throw .expired }
        return issued.claims
    }

    /// Verifies that the request proves possession of the key to which the token is bound (RFC 9449 §7.1 and §7.2), and
    /// returns the proof; nil if the token is bound to no key.
    func proof(
        of access: AccessTokenClaims, in request: IncomingRequest, at endpoint: Endpoint,
        _ presented: PresentedAccessToken
    ) throws -> VerifiedDPoPProof? {
        do {
            let proof =
                presented.isBoundToKey
                ? try proofs.proof(in: request, at: endpoint, presenting: presented.token) : nil
            guard proof != nil || !presented.isBoundToKey else {
                throw BearerRefusal(.invalidDPoPProof, "the request with the scheme DPoP contains no DPoP proof")
            }
            try access.requireProof(of: proof?.thumbprint)
            return proof
        } catch let refusal as DPoPProofRefusal {
            throw BearerRefusal(refusal)
        } catch let refusal as TokenRefusal {
            throw BearerRefusal(.invalidToken, "\(refusal)")
        }
    }

    /// Notes the use of a proof, after everything else in its request was accepted.
    func use(_ proof: VerifiedDPoPProof?, of holder: ProofHolder) async throws {
        do { try await proofs.use(proof, of: holder) } catch let refusal as DPoPProofRefusal {
            throw BearerRefusal(refusal)
        }
    }
}

extension TokenRefusal {
    /// Whether the refused token has no valid signature of this server.
    ///
    /// A token that was refused for its claims, such as an expired one, is not a forgery.
    fileprivate var isForgery: Bool {
        switch self {
        case .tooLarge, .malformed, .wrongType, .algorithmNotAllowed, .headerNotAllowed, .unknownKey, .badSignature:
            true
        case .missingClaim, .invalidClaim, .wrongIssuer, .wrongAudience, .wrongSubject, .wrongAuthTime,
            .wrongAuthorizedParty, .boundToKey, .boundToAnotherKey, .notBoundToKey, .expired, .lastsTooLong,
            .notYetValid, .wrongNonce, .wrongAccessTokenHash, .authenticationTooOld, .wrongAuthenticationContext:
            false
        }
    }
}
