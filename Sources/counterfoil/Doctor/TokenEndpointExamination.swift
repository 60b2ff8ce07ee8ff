import CounterfoilClient
import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The check of the token endpoint's error responses and of the key set.
///
/// A request with an invalid code provokes an error response without side effects.
extension Examination {
    /// Requests tokens with an invalid code, and checks the error response (RFC 6749 §5.2).
    mutating func tokenEndpoint(of server: AuthorizationServerConfiguration) async {
        guard let client = subject.clientID ?? Self.unknownClient,
            let response = await post(
                Self.invalidCode(), to: server.tokenEndpoint, of: client, at: server, as: "token endpoint")
        else { return }
        switch response.statusCode {
        case 300..<400:
            return fault(
                "token-redirects",
                "the token endpoint responds with a redirect, along which no code or token is ever sent",
                mend: "publish the URL to which it redirects in the metadata")
        case 429, 503:
            let pause = response.head.headerFields[.retryAfter].map {
                ", Retry-After: \($0.strippingControlCharacters)"
            }
            return advise(
                "busy",
                "the token endpoint failed or is overloaded (status \(response.statusCode)\(pause ?? ""))",
                mend: "try again later")
        case 500..<600:
            return fault(
                "token-fails",
                "the token endpoint fails (status \(response.statusCode)) instead of rejecting an invalid code",
                mend: "check the log of the server", status: .unavailable)
        default: break
        }
        cors(response, what: "the token endpoint")
        refusal(response)
    }

    /// The client of the requests if the user names none.
    static var unknownClient: ClientIdentifier? { ClientIdentifier("counterfoil-doctor") }

    /// Returns a token request with a code that no server has issued.
    static func invalidCode() -> FormParameters {
        var form = FormParameters(["grant_type": "authorization_code"])
        form.append("code", "counterfoil-doctor-\(UUID().uuidString)")
        form.append("redirect_uri", "http://127.0.0.1/callback")
        form.append("code_verifier", CodeVerifier(random: RandomBytes()).exposed)
        return form
    }

    private mutating func refusal(_ response: TransportResponse) {
        guard let members = Self.members(response) else {
            let isForm = response.mediaType == "application/x-www-form-urlencoded"
            return isForm
                ? fault(
                    "token-answer-form", "the token endpoint responds with a form instead of the JSON of RFC 6749 §5.1",
                    mend: "respond with JSON to requests that accept it")
                : fault(
                    "token-answer-unreadable",
                    "the error response of the token endpoint is not valid JSON (status \(response.statusCode)): it is a page, has a"
                        + " duplicate member or is nested too deeply",
                    mend: "send error responses as in RFC 6749 §5.2, also through a proxy")
        }
        if members["access_token"] != nil {
            return fault(
                "token-gives-away", "the token endpoint issues tokens for an invalid code",
                mend: "do not use this server")
        }
        if members["ok"] != nil {
            advise(
                "ok-envelope", "the token endpoint reports errors in a member ok",
                mend: "use --vendor if it supports this server")
        }
        guard let word = members.text("error") else {
            return fault(
                "token-answer-unreadable", "the error response of the token endpoint has no error code",
                mend: "send error responses as in RFC 6749 §5.2")
        }
        let shown = String(word.prefix(60)).strippingControlCharacters
        if (200..<300).contains(response.statusCode) {
            advise(
                "refusal-status-200",
                "the token endpoint sends an error with the status \(response.statusCode) (\(shown))",
                mend: "send the status 400 (RFC 6749 §5.2); this client looks for an error before the status")
        }
        switch word {
        case "use_dpop_nonce", "invalid_dpop_proof":
            advise(
                "dpop-required", "the token endpoint requires tokens that are bound to a key",
                mend: "sign in with --dpop")
        case "invalid_client", "unauthorized_client":
            guard let client = subject.clientID else {
                return sound("token-refuses", "the token endpoint rejects an invalid code correctly (\(shown))")
            }
            let isPublic = subject.authentication == .none
            fault(
                "client-refused",
                isPublic
                    ? "the token endpoint does not know the client \(client), or requires its secret or key (\(shown))"
                    : "the token endpoint does not know the client \(client), or rejects its secret or key (\(shown))",
                mend: isPublic
                    ? "register a native application, which has no secret, or pass --client-secret-file or --client-key"
                    : "check the secret or key, and the authentication method of the client at the server"
                        + (subject.usesKey ? "; an older server may need --assertion-audience token-endpoint" : ""),
                status: .refused)
        case "invalid_grant", "invalid_request", "unsupported_grant_type", "invalid_scope", "invalid_target":
            sound("token-refuses", "the token endpoint rejects an invalid code correctly (\(shown))")
        default:
            advise(
                "refusal-word", "the token endpoint uses an error code of its own (\(shown))",
                mend: "use --vendor if it supports this server")
        }
        if !(response.head.headerFields[.cacheControl] ?? "").lowercased().contains("no-store") {
            advise(
                "token-cached", "the response of the token endpoint may be cached",
                mend: "send Cache-Control: no-store (RFC 6749 §5.1)")
        }
    }

    /// Checks the JWKS of the server.
    ///
    /// It fetches the JWKS twice, to detect server instances or caches that return different keys.
    mutating func keys(of server: AuthorizationServerConfiguration) async {
        guard let endpoint = server.keysEndpoint else {
            return advise("keys-none", "the server publishes no keys, so its ID tokens cannot be verified")
        }
        guard let first = await ask(endpoint, as: "keys"), let second = await ask(endpoint, as: "keys") else { return }
        guard first.statusCode == 200, case .array(let keys)? = Self.members(second)?["keys"] else {
            return fault(
                "keys-unreadable", "the key set of the server is invalid (status \(first.statusCode))",
                mend: "serve a JSON Web Key Set at jwks_uri (RFC 7517 §5)")
        }
        if keys.count > 50 {
            fault(
                "keys-many", "the server publishes \(keys.count) keys", mend: "publish only the keys in use")
        } else if Self.keySet(first) != Self.keySet(second) {
            advise(
                "keys-change", "two consecutive requests return different keys",
                mend: "publish the same keys from every instance of the server and every cache in front of it")
        } else {
            sound("keys", "the key set is valid")
        }
    }

    /// Returns the keys of a key set, whose order does not matter (RFC 7517 §5).
    private static func keySet(_ response: TransportResponse) -> Set<JSONValue>? {
        guard case .array(let keys)? = members(response)?["keys"] else { return nil }
        return Set(keys)
    }
}

extension Examination.Subject {
    /// Whether the client authenticates with a private key.
    fileprivate var usesKey: Bool { if case .privateKey = authentication { true } else { false } }
}
