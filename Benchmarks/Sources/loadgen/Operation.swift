import Foundation

/// One kind of operation, carried out again and again on one connection.
struct Operation {
    /// An answer that is not what the standard says.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String

        init(_ what: String, _ response: Response) {
            let body = String(decoding: response.body.prefix(200), as: UTF8.self)
            description = "\(what): \(response.status) \(body)"
        }
    }

    private struct Tokens: Decodable {
        let access_token: String
        let token_type: String
    }

    private let mode: Options.Mode
    private let target: Target
    private let connection: Connection
    private let decoder = JSONDecoder()

    init(mode: Options.Mode, target: Target) {
        self.mode = mode
        self.target = target
        connection = Connection(port: target.port)
    }

    /// Does it once; throws when an answer is missing or is not the right one.
    func callAsFunction() throws {
        switch mode {
        case .code: try codeFlow()
        case .consent: try consentPage()
        case .consentRefused: try consentRefused()
        case .discovery: try discovery()
        }
    }

    /// RFC 6749 §4.1.1 to §4.1.4, with the verifier and challenge of RFC 7636.
    private func codeFlow() throws {
        let state = Random.text(bytes: 16)
        let verifier = Random.text(bytes: 32)
        let answer = try connection.send(get(request(state: state, verifier: verifier), cookie: target.cookie))
        guard answer.status == 302 || answer.status == 303, let location = answer["location"],
            location.hasPrefix(target.redirectURI + "?")
        else { throw Unexpected("authorization", answer) }
        let given = Form.decode(location.dropFirst(target.redirectURI.count + 1))
        guard given["state"] == state, let code = given["code"], !code.isEmpty else {
            throw Unexpected("authorization response without its state or a code", answer)
        }
        guard target.issuer == nil || given["iss"] == target.issuer else {
            throw Unexpected("authorization response with iss \(given["iss"] ?? "missing")", answer)
        }

        let body = Form.encode([
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", target.redirectURI),
            ("client_id", target.clientID), ("code_verifier", verifier),
        ])
        let tokens = try connection.send(post(target.tokenPath, body))
        guard tokens.status == 200, let parsed = try? decoder.decode(Tokens.self, from: Data(tokens.body)),
            !parsed.access_token.isEmpty, parsed.token_type.lowercased() == "bearer"
        else { throw Unexpected("token", tokens) }
    }

    /// The page that asks the person, with everything on it.
    private func consentPage() throws {
        let request = request(state: Random.text(bytes: 16), verifier: Random.text(bytes: 32))
        let answer = try connection.send(get(request, cookie: target.cookie))
        guard answer.status == 200, String(decoding: answer.body, as: UTF8.self).contains("name=\"decision\"") else {
            throw Unexpected("consent page", answer)
        }
    }

    /// The refusal in place of the page (OpenID Connect Core §3.1.2.6).
    private func consentRefused() throws {
        let request = request(state: Random.text(bytes: 16), verifier: Random.text(bytes: 32), prompt: "none")
        let answer = try connection.send(get(request, cookie: target.cookie))
        guard answer.status == 303, answer["location"]?.contains("error=consent_required") == true else {
            throw Unexpected("refusal of the consent page", answer)
        }
    }

    /// The target of an authorization request.
    private func request(state: String, verifier: String, prompt: String? = nil) -> String {
        let challenge = Base64URL.encode(SHA256.digest(of: Array(verifier.utf8)))
        var parameters = [
            ("response_type", "code"), ("client_id", target.clientID), ("redirect_uri", target.redirectURI),
            ("scope", target.scope), ("state", state), ("nonce", Random.text(bytes: 16)),
            ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ]
        if let prompt { parameters.append(("prompt", prompt)) }
        for (name, value) in target.moreParameters ?? [:] { parameters.append((name, value)) }
        return "\(target.authorizePath)?\(Form.encode(parameters))"
    }

    private func discovery() throws {
        let answer = try connection.send(get(target.discoveryPath, cookie: nil))
        guard answer.status == 200, String(decoding: answer.body, as: UTF8.self).contains("\"authorization_endpoint\"")
        else { throw Unexpected("discovery", answer) }
    }

    private func get(_ path: String, cookie: String?) -> [UInt8] {
        var head = "GET \(path) HTTP/1.1\r\nHost: \(target.host)\r\nAccept: text/html,*/*;q=0.8\r\n"
        if let cookie { head += "Cookie: \(cookie)\r\n" }
        return Array((head + "\r\n").utf8)
    }

    private func post(_ path: String, _ form: String) -> [UInt8] {
        let head = "POST \(path) HTTP/1.1\r\nHost: \(target.host)\r\nAccept: application/json\r\n"
        let fields = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n"
        return Array((head + fields + form).utf8)
    }
}
