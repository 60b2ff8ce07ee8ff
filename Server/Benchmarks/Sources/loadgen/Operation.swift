import Crypto
import Foundation

/// One kind of operation, repeated on one connection.
final class Operation {
    /// A response that does not conform to the standard.
    struct Unexpected: Error, CustomStringConvertible {
        let description: String

        init(_ what: String, _ response: Response) {
            let body = String(decoding: response.body.prefix(200), as: UTF8.self)
            description = "\(what): \(response.status) \(body)"
        }
    }

    /// A valid signature that was not accepted.
    private struct SignatureInvalid: Error {}

    private struct Tokens: Decodable {
        let accessToken: String
        let tokenType: String
        var refreshToken: String?

        enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case tokenType = "token_type"
            case refreshToken = "refresh_token"
        }
    }

    private struct Introspection: Decodable {
        let isActive: Bool
        let clientID: String?

        enum CodingKeys: String, CodingKey {
            case isActive = "active"
            case clientID = "client_id"
        }
    }

    private let mode: Options.Mode
    private let target: Target
    private let connection: Connection
    private let decoder = JSONDecoder()
    /// The tokens from the preparation, which are used in turn.
    private var held: [Tokens] = []
    private var next = 0
    /// The position among the twenty mixed operations.
    private var turn = 0
    /// The key with which proofs are signed; nil if none are signed.
    private let proofKey: ProofKey?
    /// The nonce of the last response, for the next proof (RFC 9449 §8.2).
    private var nonce: String?
    private var signatureCheck: SignatureCheck?
    /// The processor time of the signature checks so far, in seconds.
    private(set) var checkSeconds = 0.0

    init(mode: Options.Mode, target: Target) {
        self.mode = mode
        self.target = target
        connection = Connection(port: target.port)
        proofKey = target.bindsTokens == nil ? nil : ProofKey()
    }

    /// Gets this number of tokens if the mode needs tokens.
    func prepare(tokens count: Int) throws {
        switch mode {
        case .code, .consent, .consentRefused, .signIn, .passkey, .revoke, .discovery: break
        case .verify:
            signatureCheck = try ProofKey().signatureCheck(for: tokenURL)
            for _ in 0..<count { held.append(try codeFlow()) }
        case .refresh, .introspect, .mixed: for _ in 0..<count { held.append(try codeFlow()) }
        case .introspectRevoked:
            for _ in 0..<count {
                let tokens = try codeFlow()
                try revoke([tokens.accessToken, tokens.refreshToken])
                held.append(tokens)
            }
        }
    }

    /// Runs the operation once; throws if a response is missing or wrong.
    func callAsFunction() throws {
        switch mode {
        case .code: _ = try codeFlow()
        case .consent: try consentPage()
        case .consentRefused: try consentRefused()
        case .signIn: _ = try signInPage()
        case .passkey: try passkeySignIn()
        case .refresh: try withHeldTokens(refresh)
        case .introspect: try withHeldTokens { try introspect(&$0, isActive: true) }
        case .introspectRevoked: try withHeldTokens { try introspect(&$0, isActive: false) }
        case .revoke: try revoke([codeFlow().refreshToken])
        case .mixed: try mixed()
        case .discovery: try discovery()
        case .verify:
            try withHeldTokens(refresh)
            let before = processorTime()
            guard signatureCheck?() == true else { throw SignatureInvalid() }
            checkSeconds += Double(processorTime() - before) / 1e9
        }
    }

    /// Returns the processor time of this thread in nanoseconds.
    private func processorTime() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private func mixed() throws {
        defer { turn = (turn + 1) % 20 }
        switch turn {
        case 0: _ = try codeFlow()
        case 5, 10, 15, 19: try withHeldTokens(refresh)
        default: try withHeldTokens { try introspect(&$0, isActive: true) }
        }
    }

    private func withHeldTokens(_ use: (inout Tokens) throws -> Void) throws {
        try use(&held[next])
        next = (next + 1) % held.count
    }

    /// Runs a code flow (RFC 6749 §4.1.1 to §4.1.4), with the verifier and challenge of RFC 7636.
    private func codeFlow() throws -> Tokens {
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
        return try tokens(
            "authorization_code",
            [("code", code), ("redirect_uri", target.redirectURI), ("code_verifier", verifier)])
    }

    /// Refreshes (RFC 6749 §6); a refresh token in the response replaces the one that was used.
    private func refresh(_ tokens: inout Tokens) throws {
        guard let refreshToken = tokens.refreshToken else {
            throw Unexpected("no refresh token", Response(status: 0, fields: [], body: []))
        }
        var fresh = try self.tokens("refresh_token", [("refresh_token", refreshToken)])
        fresh.refreshToken = fresh.refreshToken ?? refreshToken
        tokens = fresh
    }

    /// Sends a token request and checks the response (RFC 6749 §4.1.4 and §5.1).
    private func tokens(_ grantType: String, _ fields: [(String, String)]) throws -> Tokens {
        let body = Form.encode([("grant_type", grantType)] + fields + clientFields)
        let signed = try proofKey?.proof(for: tokenURL, nonce: nonce)
        let proof = target.bindsTokens == true ? signed : nil
        let answer = try connection.send(
            post(target.tokenPath, body, authorization: target.clientAuthorization, proof: proof))
        nonce = answer["dpop-nonce"] ?? nonce
        guard answer.status == 200, let parsed = try? decoder.decode(Tokens.self, from: Data(answer.body)),
            !parsed.accessToken.isEmpty, parsed.tokenType.lowercased() == (proof == nil ? "bearer" : "dpop")
        else { throw Unexpected("answer to \(grantType)", answer) }
        return parsed
    }

    /// Introspects an access token (RFC 7662 §2).
    private func introspect(_ tokens: inout Tokens, isActive: Bool) throws {
        let body = Form.encode([("token", tokens.accessToken), ("token_type_hint", "access_token")])
        let answer = try connection.send(
            post(target.introspectionPath, body, authorization: target.introspectionAuthorization))
        guard answer.status == 200, let parsed = try? decoder.decode(Introspection.self, from: Data(answer.body)),
            parsed.isActive == isActive, parsed.clientID == (isActive ? target.clientID : nil)
        else { throw Unexpected("introspection", answer) }
    }

    /// Revokes each of the tokens (RFC 7009 §2): not every server revokes the access token with the refresh token.
    private func revoke(_ tokens: [String?]) throws {
        let own = target.revocationAuthorization == nil
        for token in tokens.compactMap(\.self) {
            let body = Form.encode([("token", token)] + (own ? clientFields : []))
            let authorization = own ? target.clientAuthorization : target.revocationAuthorization
            let answer = try connection.send(post(target.revocationPath, body, authorization: authorization))
            guard answer.status == 200 else { throw Unexpected("revocation", answer) }
        }
    }

    /// The URL of the token endpoint, as the metadata publish it.
    private var tokenURL: String { "http://\(target.host)\(target.tokenPath)" }

    /// The `client_id` of a client without a secret (RFC 6749 §3.2.1).
    private var clientFields: [(String, String)] {
        target.clientAuthorization == nil ? [("client_id", target.clientID)] : []
    }

    /// Requests the consent page and checks its content.
    private func consentPage() throws {
        let request = request(state: Random.text(bytes: 16), verifier: Random.text(bytes: 32))
        let answer = try connection.send(get(request, cookie: target.cookie))
        guard answer.status == 200, String(decoding: answer.body, as: UTF8.self).contains("name=\"decision\"") else {
            throw Unexpected("consent page", answer)
        }
    }

    /// Requests the sign-in page and checks its content.
    private func signInPage() throws -> Response {
        let request = request(state: Random.text(bytes: 16), verifier: Random.text(bytes: 32))
        let answer = try connection.send(get(request, cookie: nil))
        guard answer.status == 200, String(decoding: answer.body, as: UTF8.self).contains("name=\"password\"") else {
            throw Unexpected("sign-in page", answer)
        }
        return answer
    }

    /// Signs in with a passkey, in a browser without cookies.
    private func passkeySignIn() throws {
        let page = try signInPage()
        guard let passkey = target.passkey, let form = SignInForm(html: String(decoding: page.body, as: UTF8.self))
        else { throw Unexpected("sign-in page without passkeys", page) }
        let cookies = page.cookies.map { $0.prefix { $0 != ";" } }.joined(separator: "; ")
        let body = Form.encode([
            ("request", form.request), ("ticket", form.ticket),
            ("passkey", try passkey.assertion(for: form.challenge)),
        ])
        let answer = try connection.send(
            post(form.action, body, fields: "Cookie: \(cookies)\r\nOrigin: \(passkey.origin)\r\n"))
        guard answer.status < 400, answer.cookies.contains(where: { $0.contains("counterfoil-session") }) else {
            throw Unexpected("sign-in with a passkey", answer)
        }
    }

    /// Requests the refusal in place of the page (OpenID Connect Core §3.1.2.6).
    private func consentRefused() throws {
        let request = request(state: Random.text(bytes: 16), verifier: Random.text(bytes: 32), prompt: "none")
        let answer = try connection.send(get(request, cookie: target.cookie))
        guard answer.status == 303, answer["location"]?.contains("error=consent_required") == true else {
            throw Unexpected("refusal of the consent page", answer)
        }
    }

    /// Returns the request target of an authorization request.
    private func request(state: String, verifier: String, prompt: String? = nil) -> String {
        let challenge = Base64URL.encode(Array(SHA256.hash(data: Data(verifier.utf8))))
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

    private func post(
        _ path: String, _ form: String, authorization: String? = nil, proof: String? = nil, fields more: String = ""
    ) -> [UInt8] {
        var head = "POST \(path) HTTP/1.1\r\nHost: \(target.host)\r\nAccept: application/json\r\n\(more)"
        if let authorization { head += "Authorization: \(authorization)\r\n" }
        if let proof { head += "DPoP: \(proof)\r\n" }
        let fields = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n"
        return Array((head + fields + form).utf8)
    }
}
