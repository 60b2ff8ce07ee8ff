import Foundation

/// The token exchange grant (RFC 8693).
extension MiniatureServer {
    private static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"

    /// Exchanges an access token of this server for one with the requested scope and resources (RFC 8693 §2.1).
    ///
    /// An actor token must be an access token of this server too.
    mutating func exchange(
        _ request: RecordedRequest, by clientID: String, key: String?, in vault: inout VaultContents, at now: Date
    ) throws -> ScriptedAnswer {
        let form = request.form
        for name in ["subject_token", "actor_token"] { vault.keepSecret(form[name]) }
        // RFC 8693 §2.2.2: `invalid_request` also means that the subject token or the actor token is not valid.
        guard let subject = grant(ofToken: form["subject_token"], form["subject_token_type"], in: vault, at: now) else {
            return refusal("invalid_request", to: request)
        }
        if form["actor_token"] != nil || form["actor_token_type"] != nil {
            guard grant(ofToken: form["actor_token"], form["actor_token_type"], in: vault, at: now) != nil else {
                return refusal("invalid_request", to: request)
            }
        }
        let scope = form["scope"] ?? subject.scope
        guard scope.split(separator: " ").map(String.init).allSatisfy(subject.isGranted) else {
            return refusal("invalid_scope", to: request)
        }
        let exchanged = ScriptedGrant(
            authorization: subject.authorization, clientID: clientID, subject: subject.subject, scope: scope,
            nonce: nil,
            resources: form.all("resource"), signedIn: subject.signedIn, context: subject.context, mayRefresh: false,
            key: key)
        return try issue(
            exchanged, refreshToken: nil, more: [WireMember("issued_token_type", .text(Self.accessTokenType))],
            to: request, in: &vault, at: now)
    }

    private func grant(
        ofToken text: String?, _ type: String?, in vault: VaultContents, at now: Date
    ) -> ScriptedGrant? {
        guard let text, type == Self.accessTokenType, let token = vault.accessTokens[text], !token.isEnded,
            token.expires > now
        else { return nil }
        return token.grant
    }
}
