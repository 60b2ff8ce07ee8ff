import CounterfoilProtocol
import Foundation

/// The device authorization grant (RFC 8628).
extension MiniatureServer {
    /// Answers a device authorization request (RFC 8628 §3.1 and §3.2).
    func beginDevice(_ request: RecordedRequest, in vault: inout VaultContents, at now: Date) -> ScriptedAnswer {
        // RFC 8628 §3.1: `client_id` identifies the client. The scripted server does not authenticate the client
        // here, but at the token endpoint, with each poll.
        guard let clientID = request.form["client_id"], isKnown(clientID, in: vault) else {
            return refusal("invalid_client", to: request, status: 401)
        }
        let isS256 = request.form["code_challenge_method"] == CodeChallenge.method
        let challenge = request.form["code_challenge"].flatMap { CodeChallenge($0) }
        guard (isS256 && challenge != nil) || !script.device.requiresPKCE else {
            return refusal("invalid_request", to: request)
        }
        let code = vault.secret("dc-")
        vault.devices[code] = DeviceSignIn(
            grant: grant(for: request.form, clientID: clientID, in: vault, at: now), challenge: challenge,
            home: origin)
        let address = url(of: .verification)
        var members = [
            WireMember("device_code", .text(code)), WireMember("user_code", "BDWP-HQPK"),
            WireMember(script.device.verificationMember, .text(address)),
            WireMember("expires_in", .number(script.device.expiresIn)),
        ]
        if script.device.hasCompleteAddress {
            members.append("\(script.device.verificationMember)_complete", .text("\(address)?user_code=BDWP-HQPK"))
        }
        members.append("interval", script.device.interval.map { .number($0) })
        return json(
            members.changed(replacing: script.device.replaced, omitting: []), at: .deviceAuthorization,
            headerFields: [.init("Cache-Control", "no-store")])
    }

    /// Answers a poll of the token endpoint (RFC 8628 §3.4 and §3.5).
    mutating func poll(
        _ request: RecordedRequest, by clientID: String, key: String?, in vault: inout VaultContents, at now: Date
    ) throws -> ScriptedAnswer {
        guard let text = request.form["device_code"], var device = vault.devices[text], !device.isUsed,
            device.home == origin, device.grant.clientID == clientID
        else { return refusal("invalid_grant", to: request) }
        if let challenge = device.challenge {
            guard let verifier = request.form["code_verifier"].flatMap({ CodeVerifier($0) }),
                CodeChallenge(of: verifier).rawValue == challenge.rawValue
            else { return refusal("invalid_grant", to: request) }
        }
        let poll = device.polls < script.device.polls.count ? script.device.polls[device.polls] : .approved
        device.polls += 1
        defer { vault.devices[text] = device }
        switch poll {
        case .pending: return refusal("authorization_pending", to: request)
        case .slowDown: return refusal("slow_down", to: request)
        case .slowDownAsTooManyRequests: return refusal("slow_down", to: request, status: 429)
        case .slowDownTo(let interval):
            return refusal("slow_down", to: request, more: [WireMember("interval", .number(interval))])
        case .denied: return refusal("access_denied", to: request)
        case .expired: return refusal("expired_token", to: request)
        case .answer(let answer): return answer
        case .otherDataCentre(let name):
            device.home = sibling
            return refusal("other_dc", to: request, more: [WireMember("user_location", .text(name))])
        case .approved:
            device.isUsed = true
            var grant = device.grant
            grant.key = key
            return try issue(
                grant, refreshToken: newRefreshToken(of: grant, in: &vault), to: request, in: &vault, at: now)
        }
    }
}
