import CounterfoilStore

/// A masked email address that its owner recognizes and others cannot use: `al•••@example.com`.
package struct MaskedEmail: Sendable, Hashable, CustomStringConvertible {
    /// The masked address, safe to show.
    package let description: String

    /// Wraps an address that is already masked.
    init(masked description: String) { self.description = DisplayName(description).description }

    /// Masks the email address of a user; nil if the user has none.
    init?(of user: User) {
        guard let email = user.email else { return nil }
        self.init(email.rawValue)
    }

    /// Masks an address: keeps the domain and the first two characters of the local part, or only the first
    /// character if the local part has fewer than four.
    package init(_ address: String) {
        let at = address.lastIndex(of: "@") ?? address.endIndex
        let local = address[..<at]
        let domain = at == address.endIndex ? "" : DisplayName(String(address[address.index(after: at)...])).description
        let shown = local.prefix(local.count < 4 ? 1 : 2)
        let kept = shown.isEmpty ? "" : DisplayName(String(shown)).description
        description = domain.isEmpty ? "\(kept)•••" : "\(kept)•••@\(domain)"
    }
}
