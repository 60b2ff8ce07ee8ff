import CounterfoilProtocol
import CounterfoilTokens

/// The members of a request object that say how an error is returned: `response_mode` and `state`.
///
/// The server takes no request objects (OpenID Connect Core §6, RFC 9101). A client that sends one may have these two in there
/// alone, and waits for the error in the way that they name. They are as trustworthy as parameters of the query, which nobody
/// has signed either; so neither a signature nor an issuer is looked at, and no other member. An encrypted object (RFC 7516)
/// cannot be read.
struct UnverifiedRequestObject {
    /// The most bytes of an object that is read.
    static let byteLimit = 16 * 1024

    /// `response_mode`; nil where the object cannot be read or has none that exists.
    let responseMode: ResponseMode?
    /// `state`; nil where the object cannot be read or has none that can be returned.
    let state: State?

    /// Reads an object in compact form, signed or not (RFC 7515 §3.1 and §6).
    init(parsing text: String) {
        let members = Self.payload(of: text).flatMap { try? JSONReader.object($0) } ?? [:]
        responseMode = members.text("response_mode").flatMap(ResponseMode.init(rawValue:))
        state = members.text("state").flatMap(State.init)
    }

    private static func payload(of text: String) -> [UInt8]? {
        guard text.utf8.count <= byteLimit else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return Base64URL.decode(String(parts[1]))
    }
}

extension [String: JSONValue] {
    fileprivate func text(_ name: String) -> String? {
        guard case .string(let text) = self[name] else { return nil }
        return text
    }
}

extension AuthorizationFlow.Refused {
    /// The way in which an error is returned.
    ///
    /// A parameter that stands outside the request object is what the request states, and goes before the one inside: RFC 9101
    /// §6.3 lets the inside win only where a server has verified it.
    struct Way {
        let mode: ResponseMode
        let state: State?

        init(of form: FormParameters, after error: OAuthError, to redirectURI: RedirectURI) {
            let object =
                error.code == .requestNotSupported
                ? form.all("request").first.map(UnverifiedRequestObject.init(parsing:)) : nil
            let stated = form.all("response_mode").isEmpty ? object?.responseMode : nil
            mode = redirectURI.takesForms ? stated ?? AuthorizationRequest.returnableMode(in: form) : .query
            state = form.all("state").isEmpty ? object?.state : AuthorizationRequest.returnableState(in: form)
        }
    }
}
