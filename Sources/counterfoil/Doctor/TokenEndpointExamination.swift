import CounterfoilClient
import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// Error responses of the token endpoint, provoked with an invalid code, which has no side effects.
extension Examination {
    /// Requests tokens with an invalid code (RFC 6749 §5.2).
    mutating func tokenEndpoint(of server: AuthorizationServerConfiguration) async {
        var form = FormParameters(["grant_type": "authorization_code"])
        form.append("code", "counterfoil-doctor-\(UUID().uuidString)")
        form.append("redirect_uri", "http://127.0.0.1/callback")
        form.append("code_verifier", CodeVerifier(random: RandomBytes()).exposed)
        form.append("client_id", (subject.clientID ?? ClientIdentifier("counterfoil-doctor"))?.rawValue ?? "")
        guard let response = await ask(server.tokenEndpoint, method: .post, form: form, as: "token endpoint") else {
            return
        }
        switch response.statusCode {
        case 300..<400:
            return fault(
                "token-redirects",
                "the token endpoint answers with a redirect, along which no code or token is ever sent",
                mend: "let the metadata name the address that it leads to")
        case 429, 503:
            let pause = response.head.headerFields[.retryAfter].map {
                ", Retry-After: \($0.strippingControlCharacters)"
            }
            return advise(
                "busy",
                "the token endpoint has trouble or has had enough (status \(response.statusCode)\(pause ?? ""))",
                mend: "try again later")
        case 500..<600:
            return fault(
                "token-fails", "the token endpoint fails (status \(response.statusCode)) where it should refuse",
                mend: "see the log of the server", status: .unavailable)
        default: break
        }
        cors(response, what: "the token endpoint")
        refusal(response)
    }

    private mutating func refusal(_ response: TransportResponse) {
        guard let members = Self.members(response) else {
            let isForm = response.mediaType == "application/x-www-form-urlencoded"
            return isForm
                ? fault(
                    "token-answer-form", "the token endpoint answers with a form where RFC 6749 §5.1 wants JSON",
                    mend: "let it answer with JSON to requests that accept it")
                : fault(
                    "token-answer-unreadable",
                    "the token endpoint does not refuse with JSON (status \(response.statusCode)): a page, a member twice, or"
                        + " lists too deep inside each other",
                    mend: "let it answer as RFC 6749 §5.2 has it, also through a proxy")
        }
        if members["access_token"] != nil {
            return fault(
                "token-gives-away", "the token endpoint gives tokens for a code that nobody gave",
                mend: "do not use this server")
        }
        if members["ok"] != nil {
            advise(
                "ok-envelope", "the token endpoint says in a member ok whether it refuses",
                mend: "use --vendor if it is one")
        }
        guard let word = members.text("error") else {
            return fault(
                "token-answer-unreadable", "the token endpoint's refusal has no error, or one that is not a text",
                mend: "let it answer as RFC 6749 §5.2 has it")
        }
        let shown = String(word.prefix(60)).strippingControlCharacters
        if (200..<300).contains(response.statusCode) {
            advise(
                "refusal-status-200", "the token endpoint refuses with the status \(response.statusCode) (\(shown))",
                mend: "it should be 400 (RFC 6749 §5.2); this client reads the words before the status")
        }
        switch word {
        case "use_dpop_nonce", "invalid_dpop_proof":
            advise("dpop-required", "the token endpoint wants every token bound to a key", mend: "sign in with --dpop")
        case "invalid_client", "unauthorized_client":
            guard let client = subject.clientID else {
                return sound("token-refuses", "the token endpoint refuses as it should (\(shown))")
            }
            fault(
                "client-refused",
                "the token endpoint does not know the client \(client), or wants a secret of it (\(shown))",
                mend: "register it as a native application, which has no secret; or give its secret to login",
                status: .refused)
        case "invalid_grant", "invalid_request", "unsupported_grant_type", "invalid_scope", "invalid_target":
            sound("token-refuses", "the token endpoint refuses as it should (\(shown))")
        default:
            advise(
                "refusal-word", "the token endpoint refuses with a word of its own (\(shown))",
                mend: "use --vendor if it is one")
        }
        if !(response.head.headerFields[.cacheControl] ?? "").lowercased().contains("no-store") {
            advise(
                "token-cached", "the answer of the token endpoint may be cached",
                mend: "send Cache-Control: no-store (RFC 6749 §5.1)")
        }
    }

    /// Fetches the keys of ID tokens twice, because they should change rarely.
    mutating func keys(of server: AuthorizationServerConfiguration) async {
        guard let endpoint = server.keysEndpoint else {
            return advise("keys-none", "the server publishes no keys, so it cannot say who signed in (no ID tokens)")
        }
        guard let first = await ask(endpoint, as: "keys"), let second = await ask(endpoint, as: "keys") else { return }
        guard first.statusCode == 200, case .array(let keys)? = Self.members(second)?["keys"] else {
            return fault(
                "keys-unreadable", "the keys of the server cannot be read (status \(first.statusCode))",
                mend: "serve a JSON Web Key Set at jwks_uri (RFC 7517 §5)")
        }
        if keys.count > 50 {
            fault(
                "keys-many", "the server publishes \(keys.count) keys", mend: "publish those in use, and no more")
        } else if first.body != second.body {
            advise(
                "keys-change", "the keys change from one moment to the next",
                mend: "let every instance of the server, and every cache before it, publish the same keys")
        } else {
            sound("keys", "the keys can be read")
        }
    }
}
