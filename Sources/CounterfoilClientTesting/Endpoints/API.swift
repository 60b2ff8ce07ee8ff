import Foundation
import HTTPTypes

extension MiniatureServer {
    /// The result of checking the access token of a request.
    enum PresentedToken {
        case accepted(ScriptedGrant)
        case refused(ScriptedAnswer)
    }

    /// Answers a request to the API (RFC 6750 §3, RFC 9449 §7, RFC 9470 §3).
    mutating func api(_ request: RecordedRequest, from vault: inout VaultContents, at now: Date) -> ScriptedAnswer {
        let grant: ScriptedGrant
        switch presentedToken(request, in: &vault, at: now) {
        case .refused(let answer): return answer
        case .accepted(let accepted): grant = accepted
        }
        let rules = script.api
        let resource = filled(rules.resource)
        guard grant.resources.isEmpty || grant.resources.contains(resource) else {
            return challenge(401, "invalid_token")
        }
        if let scope = rules.requiredScope, !scope.split(separator: " ").allSatisfy({ grant.isGranted(String($0)) }) {
            return challenge(403, "insufficient_scope", ["scope": scope])
        }
        let isOld = rules.maxAge.map { now.timeIntervalSince(grant.signedIn) > TimeInterval($0) } ?? false
        let lacksContext = !rules.requiredContexts.isEmpty && !rules.requiredContexts.contains(grant.context ?? "")
        guard !isOld && !lacksContext else {
            var parameters: KeyValuePairs<String, String> = [:]
            switch (rules.requiredContexts.isEmpty, rules.maxAge) {
            case (false, let age?):
                parameters = ["acr_values": rules.requiredContexts.joined(separator: " "), "max_age": "\(age)"]
            case (false, nil): parameters = ["acr_values": rules.requiredContexts.joined(separator: " ")]
            case (true, let age?): parameters = ["max_age": "\(age)"]
            case (true, nil): break
            }
            return challenge(401, "insufficient_user_authentication", parameters)
        }
        let answer = ScriptedAnswer(
            headerFields: [.init("Content-Type", rules.answerType)], body: .text(rules.answer))
        return withNonce(answer, rules.schemes.isEmpty ? .none : script.dpop.apiNonce)
    }

    /// Checks the access token of a request and returns its grant.
    mutating func presentedToken(
        _ request: RecordedRequest, in vault: inout VaultContents, at now: Date
    ) -> PresentedToken {
        let parts = (script.api.losesAuthorization ? nil : request.authorization)?.split(separator: " ", maxSplits: 1)
        guard let parts, parts.count == 2,
            script.api.schemes.contains(where: { $0.lowercased() == parts[0].lowercased() })
        else { return .refused(challenge(401)) }
        let text = String(parts[1])
        guard let token = vault.accessTokens[text], !token.isEnded, token.expires > now else {
            return .refused(challenge(401, "invalid_token"))
        }
        guard let key = token.grant.key else { return .accepted(token.grant) }
        // RFC 9449 §7.1: a DPoP-bound token requires the scheme DPoP and a proof of its key.
        guard parts[0].lowercased() == "dpop" else { return .refused(challenge(401, "invalid_token")) }
        switch proof(of: request, accessToken: text, rule: script.dpop.apiNonce, in: &vault, at: now) {
        case .valid(key): return .accepted(token.grant)
        case .refused(let error): return .refused(withNonce(challenge(401, error), script.dpop.apiNonce))
        case .valid, .none: return .refused(challenge(401, "invalid_dpop_proof"))
        }
    }

    /// Returns an error response of the API with its `WWW-Authenticate` challenge.
    private func challenge(
        _ status: Int, _ error: String? = nil, _ parameters: KeyValuePairs<String, String> = [:]
    ) -> ScriptedAnswer {
        let isAboutProof = error == "use_dpop_nonce" || error == "invalid_dpop_proof"
        let scheme = isAboutProof || script.dpop.isRequired ? "DPoP" : script.api.schemes.first ?? "Bearer"
        var written: [String] = []
        if let error { written.append("error=\"\(error)\"") }
        written += parameters.map { "\($0.key)=\"\($0.value)\"" }
        if !script.metadata.absent.contains(.resourceMetadata) {
            written.append("resource_metadata=\"\(url(of: .resourceMetadata))\"")
        }
        let honest = [written.isEmpty ? scheme : "\(scheme) \(written.joined(separator: ", "))"]
        let fields = (script.api.challenges ?? honest).map { ScriptedAnswer.Field("WWW-Authenticate", $0) }
        guard !script.errors.isNestedAtAPI else {
            let code = error == nil ? "HeaderNotFound" : status == 403 ? "InsufficientPermissions" : "Unauthorized"
            let body: WireValue = ["error": ["code": .text(code), "message": "The request was refused."]]
            return .json(body.written, status: status, headerFields: fields)
        }
        return ScriptedAnswer(status: status, headerFields: fields, body: .text(script.api.refusal))
    }
}
