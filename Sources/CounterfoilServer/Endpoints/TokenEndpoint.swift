import CounterfoilProtocol
import Foundation
import HTTPTypes

/// `/oauth2/token` (RFC 6749 §3.2): POST with a form, JSON back.
struct TokenEndpoint: Sendable {
    let settings: ServerSettings
    let authenticator: ClientAuthenticator
    let store: any AuthorizationServerStore
    let issuer: TokenIssuer
    let refreshTokens: RefreshTokenAuthority
    let auditor: Auditor
    let metrics: ServerMetrics

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        // RFC 6749 §2.3.1: nothing in the URL is looked at, least of all a credential.
        let form = try request.form()
        let asked = try TokenRequest(parsing: form)
        let client = try await authenticator.authenticate(request, form: form, now: now)
        let exchange = Exchange(client: client, request: request, now: now)
        let response =
            switch asked {
            case .authorizationCode(let presented): try await redeem(presented, exchange)
            case .refreshToken(let presented): try await refresh(presented, exchange)
            case .clientCredentials(let wanted): try await issuer.issue(for: wanted, by: client, store: store)
            }
        metrics.countTokens(of: asked.grant)
        var reply = Reply(.ok, .json(try response.encoded()))
        // RFC 6749 §5.1: for caches that are older than Cache-Control.
        if let pragma = HTTPField.Name("Pragma") { reply.fields[pragma] = "no-cache" }
        return reply
    }

    /// Who asks, by which request, and when.
    private struct Exchange {
        let client: AuthenticatedClient
        let request: IncomingRequest
        let now: Date
    }

    // MARK: - Codes

    private func redeem(_ presented: TokenRequest.CodeExchange, _ exchange: Exchange) async throws -> TokenResponse {
        let now = exchange.now
        let digest = ArtefactDigest(of: presented.code)
        let facts = try await store.code(digest)
        switch AuthorizationCodeGrant.judge(presented, by: exchange.client, facts: facts, now: now) {
        case .redeem(let approval):
            let line = line(for: approval, now: now)
            let response = try issuer.issue(IssuingFacts(approval), refreshToken: line?.token)
            switch try await store.consumeCode(digest, beginning: line?.family, at: now) {
            case .consumed: return response
            case .alreadyUsed:
                try await revoke(approval.facts.grant, because: .codeReplay, exchange)
                await note(.codeRedemption, .refused, approval.facts.grant, exchange, detail: "redeemed before")
                throw AuthorizationCodeGrant.refusal("code was redeemed by another request at the same time")
            case .gone: throw AuthorizationCodeGrant.refusal("code ended while it was redeemed")
            }
        case .refuse(let error):
            throw error
        case .refuseAndCount(let error):
            try await store.countFailedRedemption(digest)
            if let grant = facts?.grant {
                await note(.codeRedemption, .refused, grant, exchange, detail: "code_verifier does not match")
            }
            throw error
        case .refuseAndRevoke(let error):
            // RFC 6749 §4.1.2: who could redeem it has done so before, so one of the two is a thief.
            if let grant = facts?.grant {
                try await revoke(grant, because: .codeReplay, exchange)
                await note(.codeRedemption, .refused, grant, exchange, detail: "redeemed before")
            }
            throw error
        }
    }

    /// The line of refresh tokens that begins with a code, where the application gets one.
    private func line(
        for approval: AuthorizationCodeGrant.Approval, now: Date
    ) -> (family: RefreshFamily, token: RefreshToken)? {
        let grant = approval.facts.grant
        let name = RefreshTokenAuthority.Family(random: issuer.random)
        guard RefreshTokenTerms.areIssued(to: approval.client, for: grant.scope),
            let token = refreshTokens.token(of: name, generation: 0)
        else { return nil }
        let terms = RefreshTokenTerms(of: approval.client, settings: settings)
        let family = RefreshFamily(
            digest: name.digest, grantID: grant.id, rotatedAt: now, lastUsedAt: now,
            expiresAt: now.addingTimeInterval(terms.lifetime))
        return (family, token)
    }

    // MARK: - Refresh tokens

    /// How often a refresh is judged anew because another one came in between.
    private static let refreshAttempts = 8

    private func refresh(
        _ presented: TokenRequest.RefreshExchange, _ exchange: Exchange
    ) async throws -> TokenResponse {
        guard let genuine = refreshTokens.read(presented.refreshToken) else {
            throw RefreshTokenGrant.refusal("the refresh token is not one of this server")
        }
        let terms = RefreshTokenTerms(of: exchange.client.client, settings: settings)
        for _ in 0..<Self.refreshAttempts {
            let facts = try await store.refreshFacts(genuine.family.digest)
            let verdict = RefreshTokenGrant.judge(
                presented, by: exchange.client, generation: genuine.generation, facts: facts, terms: terms,
                now: exchange.now)
            switch verdict {
            case .issue(let approval):
                let token = approval.generation.flatMap { refreshTokens.token(of: genuine.family, generation: $0) }
                let response = try issuer.issue(IssuingFacts(approval), refreshToken: token)
                let family = approval.facts.family
                switch try await store.recordRefresh(
                    family.digest, at: family.generation, approval.step, now: exchange.now)
                {
                case .recorded:
                    if approval.step == .repeat { await note(.refreshRepeat, .done, approval.facts.grant, exchange) }
                    return response
                case .changedMeanwhile: continue
                case .gone: throw RefreshTokenGrant.refusal("grant ended while its token was refreshed")
                }
            case .refuse(let error):
                throw error
            case .refuseAndRevoke(let error):
                if let grant = facts?.grant {
                    try await revoke(grant, because: .refreshReuse, exchange)
                    await note(.refreshReuse, .refused, grant, exchange)
                }
                throw error
            }
        }
        throw StoreFault.unavailable("a refresh token was refreshed by others again and again")
    }

    private func revoke(_ grant: Grant, because reason: RevocationReason, _ exchange: Exchange) async throws {
        guard case .revoked = try await store.revokeGrant(grant.id, because: reason, at: exchange.now) else { return }
        await note(.revocation, .done, grant, exchange, detail: reason.rawValue)
    }

    private func note(
        _ kind: AuditEvent.Kind, _ outcome: AuditEvent.Outcome, _ grant: Grant, _ exchange: Exchange,
        detail: String? = nil
    ) async {
        await auditor.note(
            kind, outcome, by: exchange.request, person: grant.personID, client: grant.clientID, grant: grant.id,
            detail: detail, now: exchange.now)
    }
}

extension TokenIssuer {
    /// A token for an application itself, for APIs that are registered here.
    fileprivate func issue(
        for wanted: TokenRequest.ClientCredentials, by client: AuthenticatedClient, store: any ResourceStore
    ) async throws -> TokenResponse {
        let approval = try ClientCredentialsGrant.judge(wanted, by: client)
        for resource in approval.resources where try await store.resource(resource) == nil {
            throw OAuthError(.invalidTarget, "there is no such resource here: \(resource)")
        }
        return try issue(approval)
    }
}

extension TokenRequest {
    /// What metrics call the grant.
    fileprivate var grant: TokenGrant {
        switch self {
        case .authorizationCode: .authorizationCode
        case .refreshToken: .refreshToken
        case .clientCredentials: .clientCredentials
        }
    }
}
