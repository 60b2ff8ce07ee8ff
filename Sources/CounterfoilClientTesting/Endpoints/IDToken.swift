import CounterfoilProtocol
import CounterfoilTokens
import Crypto
import Foundation

/// ID tokens with the deviations of the script.
extension MiniatureServer {
    /// Creates an ID token (OpenID Connect Core §2 and §12.2).
    mutating func idToken(
        of grant: ScriptedGrant, accessToken: String, isRefresh: Bool, at now: Date
    ) throws -> String {
        if script.keys.rotatesBeforeSigning || keys.current.algorithm != script.keys.algorithm {
            try keys.rotate(to: script.keys.algorithm)
        }
        let time = Int(now.timeIntervalSince1970) + script.idToken.timeOffset
        let other = isRefresh ? script.idToken.subjectAfterRefresh : nil
        var claims = [
            WireMember("iss", .text(issuer)), WireMember("sub", .text(other ?? grant.subject)),
            WireMember("aud", .text(grant.clientID)), WireMember("exp", .number(time + 3600)),
            WireMember("iat", .number(time)),
            WireMember("auth_time", .number(Int(grant.signedIn.timeIntervalSince1970))),
        ]
        claims.append("nonce", isRefresh ? nil : grant.nonce.map { .text($0) })
        claims.append("acr", grant.context.map { .text($0) })
        if let token = AccessToken(accessToken) {
            let hash = IDTokenClaims.accessTokenHash(of: token, algorithm: keys.current.algorithm)
            claims.append("at_hash", .text(hash))
        }
        let changed = claims.changed(replacing: script.idToken.replaced, omitting: script.idToken.omitted)
        return try signed(.object(changed.map { WireMember($0.name, filled($0.value, for: grant)) }))
    }

    /// Replaces the placeholders in a claim, including `{client}` for the client identifier; objects are unchanged.
    private func filled(_ value: WireValue, for grant: ScriptedGrant) -> WireValue {
        switch value {
        case .text(let text): .text(filled(text).replacing("{client}", with: grant.clientID))
        case .list(let values): .list(values.map { filled($0, for: grant) })
        case .number, .boolean, .null, .object, .raw: value
        }
    }

    private func signed(_ claims: WireValue) throws -> String {
        let body = Base64URL.encode(Array(claims.written.utf8))
        switch script.idToken.signature {
        case .genuine: return try keys.current.sign(claims, type: .idToken)
        case .unknownKey: return try SigningKey.generate(keys.current.algorithm).sign(claims, type: .idToken)
        case .broken:
            let token = try keys.current.sign(claims, type: .idToken)
            return token.prefix(through: token.lastIndex(of: ".") ?? token.startIndex)
                + Base64URL.encode([UInt8](repeating: 1, count: 64))
        case .none: return "\(Base64URL.encode(Array("{\"alg\":\"none\"}".utf8))).\(body)."
        case .ps256:
            let header = Base64URL.encode(Array("{\"alg\":\"PS256\",\"typ\":\"JWT\"}".utf8))
            return "\(header).\(body).\(Base64URL.encode([UInt8](repeating: 1, count: 256)))"
        case .hs256:
            let input = "\(Base64URL.encode(Array("{\"alg\":\"HS256\",\"typ\":\"JWT\"}".utf8))).\(body)"
            let key = SymmetricKey(data: Array(script.clients.secret.utf8))
            let code = HMAC<SHA256>.authenticationCode(for: Array(input.utf8), using: key)
            return "\(input).\(Base64URL.encode(Array(code)))"
        }
    }
}
