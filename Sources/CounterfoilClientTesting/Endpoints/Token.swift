import CounterfoilProtocol
import Foundation
import HTTPTypes

extension MiniatureServer {
    /// Answers a token request: authenticates the client, checks the DPoP proof, and dispatches by
    /// grant type (RFC 6749 §3.2).
    mutating func token(
        _ request: RecordedRequest, from vault: inout VaultContents, at now: Date
    ) throws -> ScriptedAnswer {
        guard request.method == .post else {
            return ScriptedAnswer(status: 405, headerFields: [.init("Allow", "POST")])
        }
        if let refused = script.clients.refusalOfForeignOrigins, let from = request.origin, from != origin {
            return refusal(refused, to: request, status: 403)
        }
        let names = request.form.names.filter { $0 != "resource" && $0 != "audience" }
        guard Set(names).count == names.count else { return refusal("invalid_request", to: request) }
        guard let clientID = authenticatedClient(request, in: vault) else {
            return refusal("invalid_client", to: request, status: 401)
        }
        let key: String?
        switch proof(of: request, accessToken: nil, rule: script.dpop.tokenNonce, in: &vault, at: now) {
        case .refused(let error): return withNonce(refusal(error, to: request), script.dpop.tokenNonce)
        case .none where script.dpop.isRequired && !script.dpop.isIgnored:
            return withNonce(refusal("invalid_dpop_proof", to: request), script.dpop.tokenNonce)
        case .none: key = nil
        case .valid(let thumbprint): key = thumbprint
        }
        let answer: ScriptedAnswer
        switch ScriptedGrantType(rawValue: request.form["grant_type"] ?? "") {
        case .authorizationCode: answer = try redeem(request, by: clientID, key: key, in: &vault, at: now)
        case .refreshToken: answer = try refresh(request, by: clientID, key: key, in: &vault, at: now)
        case .deviceCode: answer = try poll(request, by: clientID, key: key, in: &vault, at: now)
        case .clientCredentials:
            var grant = grant(for: request.form, clientID: clientID, in: vault, at: now).asClient
            grant.key = key
            answer = try issue(grant, refreshToken: nil, to: request, in: &vault, at: now)
        case .tokenExchange: answer = try exchange(request, by: clientID, key: key, in: &vault, at: now)
        case nil: answer = refusal("unsupported_grant_type", to: request)
        }
        return withNonce(answer, script.dpop.tokenNonce)
    }

    /// Redeems an authorization code (RFC 6749 §4.1.3, RFC 7636 §4.6).
    private mutating func redeem(
        _ request: RecordedRequest, by clientID: String, key: String?, in vault: inout VaultContents, at now: Date
    ) throws -> ScriptedAnswer {
        guard let text = request.form["code"], var code = vault.codes[text], code.home == origin else {
            return refusal("invalid_grant", to: request)
        }
        guard !code.isUsed else {
            // RFC 6749 §4.1.2: reuse of a code revokes the tokens issued for it.
            vault.end(code.grant.authorization)
            return refusal("invalid_grant", to: request)
        }
        let verifier = request.form["code_verifier"]
        let hashed = verifier.flatMap { CodeVerifier($0) }.map { CodeChallenge(of: $0).rawValue }
        let matches = code.challenge == (code.isPlain ? verifier : hashed)
        let isBound = code.grant.key == nil || code.grant.key == key
        guard code.grant.clientID == clientID, request.form["redirect_uri"] == code.redirectURI, matches, isBound
        else { return refusal("invalid_grant", to: request) }
        code.isUsed = true
        vault.codes[text] = code
        var grant = code.grant
        grant.key = key
        return try issue(grant, refreshToken: newRefreshToken(of: grant, in: &vault), to: request, in: &vault, at: now)
    }

    /// Redeems a refresh token (RFC 6749 §6, RFC 9700 §4.14.2).
    private mutating func refresh(
        _ request: RecordedRequest, by clientID: String, key: String?, in vault: inout VaultContents, at now: Date
    ) throws -> ScriptedAnswer {
        guard let text = request.form["refresh_token"], var token = vault.refreshTokens[text], !token.isEnded,
            token.grant.clientID == clientID, token.home == origin, token.grant.key == nil || token.grant.key == key
        else { return refusal("invalid_grant", to: request) }
        if script.refreshTokens.refusesScope, request.form["scope"] != nil {
            return refusal("invalid_scope", to: request)
        }
        let scope = request.form["scope"].map { $0.split(separator: " ").map(String.init) }
        guard scope?.allSatisfy(token.grant.isGranted) ?? true else { return refusal("invalid_scope", to: request) }
        // RFC 8707 §2.2: the access token is for the requested part of the grant, and the grant stays.
        let resources = request.form.all("resource")
        guard resources.allSatisfy(token.grant.resources.contains) else {
            return refusal("invalid_target", to: request)
        }
        var part = token.grant
        if !script.refreshTokens.ignoresTarget {
            if let scope { part.scope = scope.joined(separator: " ") }
            if !resources.isEmpty { part.resources = resources }
        }
        let returned: String?
        switch script.refreshTokens.rotation {
        case .never: returned = nil
        case .repeated: returned = text
        case .rotated(let old):
            if let successor = token.successor {
                guard old == .answersAgain else {
                    if old == .revokesAll { vault.end(token.grant.authorization) }
                    return refusal("invalid_grant", to: request)
                }
                returned = successor
            } else {
                let successor = newRefreshToken(of: token.grant, in: &vault)
                token.successor = successor
                vault.refreshTokens[text] = token
                returned = successor
            }
        }
        return try issue(part, refreshToken: returned, isRefresh: true, to: request, in: &vault, at: now)
    }

    func newRefreshToken(of grant: ScriptedGrant, in vault: inout VaultContents) -> String? {
        guard grant.mayRefresh else { return nil }
        let text = vault.secret("rt-")
        vault.refreshTokens[text] = IssuedRefreshToken(grant: grant, home: origin)
        if vault.clientsWithRefreshToken.count < 1000 { vault.clientsWithRefreshToken.insert(grant.clientID) }
        return text
    }

    /// Returns an error response (RFC 6749 §5.2), with the error code and the status code that the script prescribes.
    func refusal(
        _ code: String, to request: RecordedRequest, status: Int = 400, more: [WireMember] = []
    ) -> ScriptedAnswer {
        var members = [WireMember("error", .text(script.errors.codes[code] ?? code))]
        if script.errors.saysNotOK { members.insert(WireMember("ok", false), at: 0) }
        return tokenAnswer(members + more, to: request, status: script.errors.statusIsAlways200 ? 200 : status)
    }
}

extension ScriptedGrant {
    /// The same grant with the client as the subject, for client credentials (RFC 6749 §4.4).
    fileprivate var asClient: ScriptedGrant {
        ScriptedGrant(
            authorization: authorization, clientID: clientID, subject: clientID, scope: scope, nonce: nil,
            resources: resources, signedIn: signedIn, context: nil, mayRefresh: false)
    }
}
