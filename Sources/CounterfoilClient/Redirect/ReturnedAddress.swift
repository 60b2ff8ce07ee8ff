import CounterfoilProtocol

/// A whole address with which an answer came back: through a scheme, through the system, or by a person's hand.
struct ReturnedAddress: Sendable {
    /// Why an address is not a callback.
    enum Refusal: Error, Hashable, Sendable {
        /// Longer than any callback.
        case tooLong
        /// It does not begin as the redirect URI does.
        case anotherAddress
        /// Its parameters cannot be read.
        case unreadable
    }

    /// The most bytes of an address; a callback is far shorter.
    static let byteLimit = 32 * 1024

    private let beginning: Substring
    private let query: Substring?

    /// Splits an address; a fragment, which no answer has, is left out.
    init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= Self.byteLimit else { throw .tooLong }
        let halves = text.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        beginning = halves.first ?? ""
        query = halves.count == 2 ? halves[1] : nil
    }

    /// The scheme in lower case; nil when there is none.
    var scheme: String? {
        beginning.firstIndex(of: ":").map { beginning[..<$0].lowercased() }
    }

    /// The callback, when the address is the redirect URI with more in its query (RFC 6749 §4.1.2).
    ///
    /// RFC 8252 §8.10: any other address is another one, however near.
    func callback(at redirectURI: RedirectURI) throws(Refusal) -> AuthorizationCallback {
        guard Self.canonical(beginning) == Self.canonical(redirectURI.rawValue.prefix { $0 != "?" }) else {
            throw .anotherAddress
        }
        let query = query ?? ""
        if let registered = redirectURI.uri.query, !registered.isEmpty {
            guard query == registered || query.hasPrefix(registered + "&") else { throw .anotherAddress }
        }
        guard let parameters = try? FormParameters(parsing: String(query), byteLimit: Self.byteLimit) else {
            throw .unreadable
        }
        return AuthorizationCallback(at: redirectURI, parameters: parameters)
    }

    /// An address before its query as browsers write it: scheme and host in lower case, and a path where http has none
    /// (RFC 3986 §6.2.2.1 and §6.2.3).
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
