@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// Token responses in the format of the script.
extension MiniatureServer {
    /// Issues tokens for a grant (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3).
    ///
    /// `more` are members of the response that only one grant type has.
    mutating func issue(
        _ grant: ScriptedGrant, refreshToken: String?, isRefresh: Bool = false, more: [WireMember] = [],
        to request: RecordedRequest, in vault: inout VaultContents, at now: Date
    ) throws -> ScriptedAnswer {
        let expires = now.addingTimeInterval(TimeInterval(script.tokens.lifetime))
        let accessToken = try accessToken(of: grant, expires: expires, in: &vault, at: now)
        vault.accessTokens[accessToken] = IssuedToken(grant: grant, expires: expires)

        var members = [WireMember("access_token", .text(accessToken))]
        members.append("token_type", .text(script.tokens.tokenType ?? (grant.key == nil ? "Bearer" : "DPoP")))
        members += lifetime
        members.append("refresh_token", refreshToken.map { .text($0) })
        members.append("scope", scope(of: grant).map { .text($0) })
        if grant.isGranted("openid"), script.idToken.isIssued, !isRefresh || script.idToken.comesWithRefresh {
            let idToken = try idToken(of: grant, accessToken: accessToken, isRefresh: isRefresh, at: now)
            vault.keepSecret(idToken)
            members.append("id_token", .text(idToken))
        }
        members += more
        members = members.changed(replacing: script.tokens.extras, omitting: script.tokens.omitted)
        if let nesting = script.tokens.nesting { members = [WireMember(nesting, .object(members))] }
        if script.tokens.saysOK { members.insert(WireMember("ok", true), at: 0) }
        return tokenAnswer(members, to: request, status: 200)
    }

    private func accessToken(
        of grant: ScriptedGrant, expires: Date, in vault: inout VaultContents, at now: Date
    ) throws -> String {
        guard script.tokens.format == .jwt, let issuer = try? Issuer(ofServer: issuer),
            let clientID = ClientIdentifier(grant.clientID)
        else { return vault.secret("at-") }
        let claims = AccessTokenClaims(
            issuer: issuer, subject: grant.subject,
            audience: grant.resources.isEmpty ? [filled(script.api.resource)] : grant.resources, clientID: clientID,
            expires: expires, issuedAt: now, tokenID: Base64URL.encode(RandomBytes().bytes(16)),
            scope: (try? Scope(lenient: grant.scope)) ?? Scope(), authTime: grant.signedIn,
            authenticationContext: grant.context)
        let token = try keys.current.sign(claims)
        vault.keepSecret(token)
        return token
    }

    private var lifetime: [WireMember] {
        let seconds = script.tokens.lifetime
        return switch script.tokens.expiresIn {
        case .seconds: [WireMember("expires_in", .number(seconds))]
        case .text: [WireMember("expires_in", .text("\(seconds)"))]
        case .milliseconds:
            [WireMember("expires_in", .number(seconds * 1000)), WireMember("expires_in_sec", .number(seconds))]
        case .raw(let text): [WireMember("expires_in", .raw(text))]
        case .absent: []
        }
    }

    private func scope(of grant: ScriptedGrant) -> String? {
        switch script.tokens.scope {
        case .honest: grant.scope.isEmpty ? nil : grant.scope.replacing(" ", with: script.tokens.scopeSeparator)
        case .absent: nil
        case .replaced(let text): text
        }
    }

    /// Encodes the members of a token response in the encoding of the script, with the header field
    /// `Cache-Control: no-store` (RFC 6749 §5.1).
    func tokenAnswer(_ members: [WireMember], to request: RecordedRequest, status: Int) -> ScriptedAnswer {
        let isForm =
            switch script.tokens.encoding {
            case .json: false
            case .form: true
            case .formUnlessJSONIsAccepted: !(request.headerFields[.accept] ?? "").contains("json")
            }
        let fields = [ScriptedAnswer.Field("Cache-Control", "no-store")]
        guard isForm else { return json(members, at: .token, status: status, headerFields: fields) }
        let pairs = members.map { member in
            if case .text(let text) = member.value { return FormParameters.Pair(name: member.name, value: text) }
            return FormParameters.Pair(name: member.name, value: member.value.written)
        }
        return ScriptedAnswer(
            status: status,
            headerFields: [.init("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")] + fields,
            body: .text(FormParameters(pairs).encoded))
    }
}
