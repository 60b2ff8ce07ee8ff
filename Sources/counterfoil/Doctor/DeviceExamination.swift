import CounterfoilClient
import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The check of the device flow up to the first poll; no user enters the code (RFC 8628 §3.2 and §3.5).
extension Examination {
    /// Checks the device authorization response and the token endpoint's response to the first poll.
    mutating func device(at server: AuthorizationServerConfiguration) async {
        guard let endpoint = server.deviceAuthorizationEndpoint, let client = subject.clientID else { return }
        let verifier = CodeVerifier(random: RandomBytes())
        var form = FormParameters([
            "code_challenge": CodeChallenge(of: verifier).rawValue, "code_challenge_method": CodeChallenge.method,
        ])
        if !subject.scope.isEmpty { form.append("scope", subject.scope.description) }
        guard
            let response = await post(
                form, to: endpoint, of: client, at: server, as: "device authorization endpoint")
        else { return }
        guard response.statusCode == 200, let members = Self.members(response), let code = members.text("device_code")
        else {
            return advise(
                "device-refused",
                "the server rejects the device authorization request of this client (status \(response.statusCode))",
                mend: "allow the device grant for the client if it uses login --device")
        }
        if members["verification_uri"] == nil, members["verification_url"] != nil {
            advise(
                "device-verification-url", "the server sends verification_url instead of verification_uri",
                mend: "send verification_uri (RFC 8628 §3.2); this client accepts both")
        }
        var seconds = 5
        if case .integer(let number)? = members["interval"] {
            seconds = min(max(Int(number), 1), 10)
        } else {
            advise("device-no-interval", "the server sends no polling interval, so the default of 5 s applies")
        }
        do { try await Task.sleep(for: min(.seconds(seconds), timeout)) } catch { return }
        await question(code, verifier, client, server)
    }

    private mutating func question(
        _ code: String, _ verifier: CodeVerifier, _ client: ClientIdentifier, _ server: AuthorizationServerConfiguration
    ) async {
        let form = FormParameters([
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code,
            "code_verifier": verifier.exposed,
        ])
        guard let response = await post(form, to: server.tokenEndpoint, of: client, at: server, as: "token endpoint")
        else { return }
        let word = Self.members(response)?.text("error") ?? ""
        switch word {
        case "authorization_pending": sound("device", "the device flow works")
        case "slow_down":
            advise(
                response.statusCode == 429 ? "device-slow-down-429" : "device-slow-down",
                "the server demands slower polling than its own interval"
                    + (response.statusCode == 429 ? ", with the status 429" : ""),
                mend: "accept polling at that interval; this client adds 5 s each time (RFC 8628 §3.5)")
        case "other_dc":
            advise(
                "device-other-data-centre", "the account of the user is in another data center",
                mend: "use the server of that region")
        case "":
            advise(
                "device-answered", "the server sent no error before the user code was entered")
        default:
            advise(
                "device-refused",
                "the server does not let the device wait for the user (\(String(word.prefix(60)).strippingControlCharacters))",
                mend:
                    "send authorization_pending until the user has decided (RFC 8628 §3.5), or sign in with the browser"
            )
        }
    }
}
