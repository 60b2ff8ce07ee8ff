/// The server as browsers and authenticators know it (WebAuthn §4, Relying Party).
///
/// A response from a frame whose page is of another origin than a page around it is refused.
package struct RelyingParty: Sendable, Hashable {
    /// The RP ID: the host of the pages, or a domain above it that is no public suffix.
    package let id: String
    /// The origins of the pages that may use the credentials, such as `https://id.example.com`.
    ///
    /// They are compared whole, byte for byte (WebAuthn, “Validating the origin of a credential”).
    package let origins: Set<String>

    /// Creates a relying party, whose id is not compared with the origins: the browser has done so.
    package init(id: String, origins: Set<String>) {
        self.id = id
        self.origins = origins
    }

    /// Returns true if an origin is in a set, byte for byte: texts in Swift are equal by their characters.
    static func contains(_ origins: Set<String>, _ origin: String) -> Bool {
        origins.contains { $0.utf8.elementsEqual(origin.utf8) }
    }
}
