import CounterfoilClient
import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// The start of a device authorization, which is not completed (RFC 8628 §3.2 and §3.5).
extension Examination {
    /// Checks the device authorization response and the first token response.
    mutating func device(at server: AuthorizationServerConfiguration) async {
        guard let endpoint = server.deviceAuthorizationEndpoint, let client = subject.clientID else { return }
        var form = FormParameters(["client_id": client.rawValue])
        if !subject.scope.isEmpty { form.append("scope", subject.scope.description) }
        guard let response = await ask(endpoint, method: .post, form: form, as: "device authorization endpoint") else {
            return
        }
        guard response.statusCode == 200, let members = Self.members(response), let code = members.text("device_code")
        else {
            return advise(
                "device-refused",
                "the server does not let this client sign in on another device (status \(response.statusCode))",
                mend: "allow the client the device grant, if it is to use login --device")
        }
        if members["verification_uri"] == nil, members["verification_url"] != nil {
            advise(
                "device-verification-url", "the server says verification_url where the standard says verification_uri",
                mend: "this client takes both")
        }
        var seconds = 5
        if case .integer(let number)? = members["interval"] {
            seconds = min(max(Int(number), 1), 10)
        } else {
            advise("device-no-interval", "the server does not say how often a device may ask; that means every 5 s")
        }
        do { try await Task.sleep(for: min(.seconds(seconds), patience)) } catch { return }
        await question(code, client, server)
    }

    private mutating func question(
        _ code: String, _ client: ClientIdentifier, _ server: AuthorizationServerConfiguration
    ) async {
        let form = FormParameters([
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code,
            "client_id": client.rawValue,
        ])
        guard let response = await ask(server.tokenEndpoint, method: .post, form: form, as: "token endpoint") else {
            return
        }
        let word = Self.members(response)?.text("error") ?? ""
        switch word {
        case "authorization_pending": sound("device", "the server signs people in on another device")
        case "slow_down":
            advise(
                response.statusCode == 429 ? "device-slow-down-429" : "device-slow-down",
                "the server wants a device to ask more slowly than its own interval"
                    + (response.statusCode == 429 ? ", and says so with the status 429" : ""),
                mend: "this client asks 5 s later each time (RFC 8628 §3.5)")
        case "other_dc":
            advise(
                "device-other-data-centre", "the person's account is in another data centre",
                mend: "name that region as the server")
        case "": advise("device-answered", "the server gave a device its tokens though nobody had typed its code")
        default:
            advise("device-refused", "the server refuses the device (\(word.strippingControlCharacters))")
        }
    }
}
