package import CounterfoilProtocol

/// A `client_id` that an administrator chooses, for a client that moves here from another server.
///
/// RFC 6749 §2.2 allows every visible character. This identifier also appears in paths, in logs, and in
/// HTTP Basic credentials that some clients do not encode. Only characters that need no escaping in any of
/// them are therefore allowed.
package struct ChosenClientIdentifier: Sendable, Hashable {
    /// The most characters.
    package static let lengthLimit = 128

    /// The identifier.
    package let id: ClientIdentifier

    /// The reason why a text cannot be chosen.
    package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// It is empty or longer than ``ChosenClientIdentifier/lengthLimit``.
        case length
        /// It is a URL, which is the form of clients that publish their metadata there.
        case url
        /// It contains a character that is not unreserved in a URL (RFC 3986 §2.3).
        case character
        /// It would give a page of the client the path of another endpoint, or consists of dots.
        case path
        /// It begins with the prefix of the identifiers of users or APIs.
        case reserved(prefix: String)

        /// The reason and the remedy, safe to show.
        package var description: String {
            switch self {
            case .length: "a client_id has 1 to \(ChosenClientIdentifier.lengthLimit) characters"
            case .url: "a client_id that is a URL is reserved for clients that publish a metadata document there"
            case .character: "a chosen client_id may contain only letters, digits and - . _ ~"
            case .path: "this client_id conflicts with a path of this server; choose another one"
            case .reserved(let prefix): "a client_id that begins with \(prefix) is reserved; choose another one"
            }
        }
    }

    /// Checks a text without changing it, because clients in the field send exactly that text.
    ///
    /// The identifier must not conflict with the paths of `pages`.
    package init(_ text: String, beside pages: ServerPages) throws(Refusal) {
        guard (1...Self.lengthLimit).contains(text.utf8.count) else { throw .length }
        guard !text.contains("://") else { throw .url }
        guard text.utf8.allSatisfy(\.isUnreserved), let id = ClientIdentifier(text) else { throw .character }
        guard text.utf8.contains(where: { $0 != UInt8(ascii: ".") }), !Self.isPath(id, of: pages) else { throw .path }
        // RFC 9700 §4.15: the sub of a service is its client_id, which must not equal the sub of a user.
        for prefix in ["per_", "api_"] where text.hasPrefix(prefix) { throw .reserved(prefix: prefix) }
        self.id = id
    }

    /// Returns true if the page of the client would have the path of another endpoint, such as `/apps/new`.
    private static func isPath(_ id: ClientIdentifier, of pages: ServerPages) -> Bool {
        let endpoints = Endpoint.protocolEndpoints + pages.endpoints
        let fixed = Set(endpoints.map(\.path))
        return endpoints.contains { $0.path.contains("{client_id}") && fixed.contains($0.path(of: id)) }
    }
}
