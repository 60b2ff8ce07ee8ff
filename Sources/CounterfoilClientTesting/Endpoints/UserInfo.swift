import CounterfoilTokens
import Foundation

extension MiniatureServer {
    /// Answers a UserInfo request (OpenID Connect Core §5.3).
    mutating func userInfo(
        _ request: RecordedRequest, from vault: inout VaultContents, at now: Date
    ) throws -> ScriptedAnswer {
        let grant: ScriptedGrant
        switch presentedToken(request, in: &vault, at: now) {
        case .refused(let answer): return answer
        case .accepted(let accepted): grant = accepted
        }
        var claims = [WireMember("sub", .text(grant.subject))]
        if grant.isGranted("profile") { claims.append("name", .text(grant.subject.capitalized)) }
        if grant.isGranted("email") { claims.append("email", .text("\(grant.subject)@example.com")) }
        if script.userInfo.isSigned {
            claims += [WireMember("iss", .text(issuer)), WireMember("aud", .text(grant.clientID))]
        }
        claims = claims.changed(replacing: script.userInfo.replaced, omitting: script.userInfo.omitted)
        guard script.userInfo.isSigned else { return json(claims, at: .userInfo) }
        return ScriptedAnswer(
            headerFields: [.init("Content-Type", "application/jwt")],
            body: .text(try keys.current.sign(WireValue.object(claims), type: .idToken)))
    }
}
