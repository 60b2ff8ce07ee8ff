import CounterfoilProtocol

/// A URL that may be a callback: a Linux desktop or an Apple system delivered it, or the user pasted it.
struct CallbackURL: Sendable {
    enum Refusal: Error, Hashable, Sendable {
        /// The URL is longer than ``CallbackURL/byteLimit``.
        case tooLong
        /// The URL does not begin with the redirect URI.
        case otherURL
        /// The parameters of the URL are malformed.
        case unreadable
    }

    /// The maximum length of a URL, in bytes; a callback is far shorter.
    static let byteLimit = 32 * 1024

    private let beginning: Substring
    private let query: Substring?

    /// Splits a URL at its query and drops a fragment, because a callback has its parameters in the query.
    init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= Self.byteLimit else { throw .tooLong }
        let halves = text.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        beginning = halves.first ?? ""
        query = halves.count == 2 ? halves[1] : nil
    }

    /// The scheme, in lower case; nil if there is none.
    var scheme: String? {
        beginning.firstIndex(of: ":").map { beginning[..<$0].lowercased() }
    }

    /// Returns the callback if the URL is the redirect URI with added query parameters (RFC 6749 §4.1.2).
    ///
    /// RFC 8252 §8.10: any other URL is rejected, however similar.
    func callback(at redirectURI: RedirectURI) throws(Refusal) -> AuthorizationCallback {
        guard Self.canonical(beginning) == Self.canonical(redirectURI.rawValue.prefix { $0 != "?" }) else {
            throw .otherURL
        }
        let query = query ?? ""
        if let registered = redirectURI.uri.query, !registered.isEmpty {
            guard query == registered || query.hasPrefix(registered + "&") else { throw .otherURL }
        }
        guard let parameters = try? FormParameters(parsing: String(query), byteLimit: Self.byteLimit) else {
            throw .unreadable
        }
        return AuthorizationCallback(at: redirectURI, parameters: parameters)
    }

    /// Normalizes a URL without its query as browsers do (RFC 3986 §6.2.2.1 and §6.2.3).
    ///
    /// The function converts the scheme to lower case. For http and https, it also converts the host to lower
    /// case and an empty path to `/`.
    private static func canonical(_ text: Substring) -> String {
        guard let colon = text.firstIndex(of: ":") else { return String(text) }
        let scheme = text[..<colon].lowercased()
        let rest = text[text.index(after: colon)...]
        guard scheme == "http" || scheme == "https", rest.hasPrefix("//") else { return "\(scheme):\(rest)" }
        let authority = rest.dropFirst(2).prefix { $0 != "/" }
        let path = rest.dropFirst(2 + authority.count)
        return "\(scheme)://\(authority.lowercased())\(path.isEmpty ? "/" : path)"
    }
}
