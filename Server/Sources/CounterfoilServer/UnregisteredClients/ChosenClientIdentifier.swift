@_spi(Counterfoil) package import CounterfoilProtocol

/// A `client_id` that an administrator chooses, so that a client of another server can keep its identifier.
///
/// RFC 6749 §2.2 and appendix A.1 allow every printable ASCII character. The identifier also appears in paths,
/// in logs, and in HTTP Basic credentials, which some clients do not percent-encode. Only characters that need
/// no escaping in any of these places are therefore allowed. The exception is the URL of a client document, which
/// the client knows as its identifier already; the server never reads the document of such a client.
package struct ChosenClientIdentifier: Sendable, Hashable {
    /// The maximum length in characters.
    package static let lengthLimit = 128

    package let id: ClientIdentifier

    package enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The text is empty or longer than ``ChosenClientIdentifier/lengthLimit``.
        case length
        /// The text is a URL, but a client cannot publish its metadata document there.
        case url
        /// The text contains a character that is not an unreserved character of a URI (RFC 3986 §2.3).
        case character
        /// The text consists of dots only, or the path of a page for this client would be the path of another endpoint.
        case path
        /// The text begins with a prefix that this server uses for the identifiers of users or APIs.
        case reserved(prefix: String)

        /// The reason and the remedy, safe to show to users.
        package var description: String {
            switch self {
            case .length: "a client_id has 1 to \(ChosenClientIdentifier.lengthLimit) characters"
            case .url:
                "a client_id that is a URL must be that of a client document: https, with a host name and a path, "
                    + "and without user information, fragment and dot segments"
            case .character: "a chosen client_id may contain only letters, digits and - . _ ~"
            case .path: "this client_id conflicts with a path of this server; choose another one"
            case .reserved(let prefix): "a client_id that begins with \(prefix) is reserved; choose another one"
            }
        }
    }

    /// Checks a text without normalizing it, because installed clients send exactly that text.
    ///
    /// - Parameters:
    ///   - text: The `client_id` to check.
    ///   - pages: The endpoints of the pages of this server; a path that contains the identifier must not equal the
    ///     path of a page.
    package init(_ text: String, beside pages: [Endpoint]) throws(Refusal) {
        if text.contains("://") {
            guard let id = ClientIdentifier(text), (try? ClientDocumentURL(id)) != nil else { throw .url }
            self.id = id
            return
        }
        guard (1...Self.lengthLimit).contains(text.utf8.count) else { throw .length }
        guard text.utf8.allSatisfy(\.isUnreserved), let id = ClientIdentifier(text) else { throw .character }
        guard text.utf8.contains(where: { $0 != UInt8(ascii: ".") }), !Self.isPath(id, of: pages) else { throw .path }
        // RFC 9700 §4.15: tokens of a service have its client_id as sub, which must not equal the sub of a user.
        for prefix in ["per_", "api_"] where text.hasPrefix(prefix) { throw .reserved(prefix: prefix) }
        self.id = id
    }

    /// Returns true if the path of a page for this client would be the path of another endpoint.
    ///
    /// For example, the page `/apps/{client_id}` of a client `new` would have the path of the endpoint `/apps/new`.
    private static func isPath(_ id: ClientIdentifier, of pages: [Endpoint]) -> Bool {
        let endpoints = Endpoint.protocolEndpoints + pages
        let fixed = Set(endpoints.map(\.path))
        return endpoints.contains { $0.path.contains("{client_id}") && fixed.contains($0.path(of: id)) }
    }
}
