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
    let challenges: ChallengeWatch
    let auditor: Auditor
    let metrics: ServerMetrics

    var handlers: [EndpointHandler] { [EndpointHandler(.token, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        // RFC 6749 §2.3.1: nothing in the URL is looked at, least of all a credential.
        let form = try request.form()
        let asked = try TokenRequest(parsing: form)
        // What a refresh is judged by includes its application, which therefore is not looked up for itself.
        let line = try await line(of: asked)
        let client = try await authenticator.authenticate(request, form: form, knowing: line?.facts, now: now)
        let exchange = Exchange(client: client, request: request, now: now)
        let response =
            switch asked {
            case .authorizationCode(let presented): try await redeem(presented, exchange)
            case .refreshToken(let presented): try await refresh(presented, line, exchange)
            case .clientCredentials(let wanted): try await issue(wanted, to: client)
            }
        metrics.countTokens(of: asked.grant)
        var reply = Reply(.ok, .json(response.encoded()))
        // RFC 6749 §5.1: for caches that are older than Cache-Control.
        if let pragma = Self.pragma { reply.fields[pragma] = "no-cache" }
        return reply
    }

    private static let pragma = HTTPField.Name("Pragma")

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
        switch AuthorizationCodeGrant.judge(
            presented, by: exchange.client, facts: facts, issuer: settings.issuer, now: now)
        {
        case .redeem(let approval):
            let line = line(for: approval, now: now)
            let grant = approval.facts.grant
            let target = try await target(of: grant, naming: approval.resources, scope: grant.scope)
            let response = try issuer.issue(IssuingFacts(approval, for: target), refreshToken: line?.token)
            switch try await store.consumeCode(digest, beginning: line?.family, at: now) {
            case .consumed:
                await noteChallenge(of: approval, exchange)
                return response
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

    /// RFC 9700 §2.1.1: a challenge that served another request before protects neither.
    private func noteChallenge(of approval: AuthorizationCodeGrant.Approval, _ exchange: Exchange) async {
        guard let challenge = approval.facts.code.codeChallenge,
            challenges.note(challenge, of: approval.client.id, now: exchange.now)
        else { return }
        await note(
            .challengeReuse, .done, approval.facts.grant, exchange,
            detail: "one code_challenge served more than one authorization request")
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

    /// A refresh token of this server, and what is known of its line.
    private struct PresentedLine {
        let genuine: RefreshTokenAuthority.Genuine
        var facts: RefreshFacts?
    }

    private func line(of asked: TokenRequest) async throws -> PresentedLine? {
        guard case .refreshToken(let presented) = asked, let genuine = refreshTokens.read(presented.refreshToken)
        else { return nil }
        return PresentedLine(genuine: genuine, facts: try await store.refreshFacts(genuine.family.digest))
    }

    private func refresh(
        _ presented: TokenRequest.RefreshExchange, _ line: PresentedLine?, _ exchange: Exchange
    ) async throws -> TokenResponse {
        guard var line else {
            throw RefreshTokenGrant.refusal("the refresh token is not one of this server")
        }
        let genuine = line.genuine
        let terms = RefreshTokenTerms(of: exchange.client.client, settings: settings)
        for _ in 0..<Self.refreshAttempts {
            let facts = line.facts
            let verdict = RefreshTokenGrant.judge(
                presented, by: exchange.client, generation: genuine.generation, facts: facts, terms: terms,
                issuer: settings.issuer, service: try await service(for: line, terms, exchange), now: exchange.now)
            switch verdict {
            case .issue(let approval):
                let token = approval.generation.flatMap { refreshTokens.token(of: genuine.family, generation: $0) }
                let target = try await target(
                    of: approval.facts.grant, naming: approval.resources, scope: approval.scope,
                    knowing: approval.facts.resources)
                let response = try issuer.issue(IssuingFacts(approval, for: target), refreshToken: token)
                switch try await store.recordRefresh(approval.facts, approval.step, now: exchange.now) {
                case .recorded:
                    if approval.step == .repeat { await note(.refreshRepeat, .done, approval.facts.grant, exchange) }
                    return response
                case .changedMeanwhile: line.facts = try await store.refreshFacts(genuine.family.digest)
                case .gone: throw RefreshTokenGrant.refusal("grant ended while its token was refreshed")
                }
            case .refuse(let error):
                throw error
            case .wait(let seconds): throw RefreshTokenGrant.RepeatedTooOften(retryAfter: seconds)
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

    /// The record of outages, read only where one can explain that a client comes so late.
    private func service(
        for line: PresentedLine, _ terms: RefreshTokenTerms, _ exchange: Exchange
    ) async throws -> ServiceRecord {
        guard let family = line.facts?.family,
            RefreshTokenGrant.isLate(line.genuine.generation, in: family, terms: terms, now: exchange.now)
        else { return ServiceRecord() }
        return try await store.serviceRecord(since: family.rotatedAt)
    }

    // MARK: - What a token is for

    /// RFC 8707 §2.2: the APIs that the request names, or those of the grant.
    private func target(
        of grant: Grant, naming asked: [Resource], scope: Scope, knowing read: [RegisteredResource] = []
    ) async throws -> TokenTarget {
        let wanted = asked.isEmpty ? grant.resources : asked
        guard !wanted.isEmpty else { return TokenTarget(anywhere: scope, settings: settings) }
        let named = try await store.named(wanted, issuer: settings.issuer, knowing: read)
        return asked.isEmpty
            ? try TokenTarget(scope, forGranted: named, issuer: settings.issuer) : try TokenTarget(scope, for: named)
    }

    /// A token for an application itself.
    private func issue(
        _ wanted: TokenRequest.ClientCredentials, to client: AuthenticatedClient
    ) async throws -> TokenResponse {
        let named = try await store.named(wanted.resources, issuer: settings.issuer)
        return try issuer.issue(
            try ClientCredentialsGrant.judge(wanted, by: client, for: named, settings: settings))
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
