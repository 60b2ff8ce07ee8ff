/// An e-mail address that a person recognises and a bystander cannot use: `al•••@example.com`.
public struct MaskedEmail: Sendable, Hashable, CustomStringConvertible {
    /// The address as it may be shown.
    public let description: String

    /// An address that was masked before.
    init(masked description: String) { self.description = DisplayName(description).description }

    /// Masks an address: two characters of the local part remain, one where it has fewer than four; the domain remains.
    public init(_ address: String) {
        let at = address.lastIndex(of: "@") ?? address.endIndex
        let local = address[..<at]
        let domain = at == address.endIndex ? "" : DisplayName(String(address[address.index(after: at)...])).description
        let shown = local.prefix(local.count < 4 ? 1 : 2)
        let kept = shown.isEmpty ? "" : DisplayName(String(shown)).description
        description = domain.isEmpty ? "\(kept)•••" : "\(kept)•••@\(domain)"
    }
}
