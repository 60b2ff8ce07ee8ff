@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore

/// The form of a user identifier in the path of a page, where it is one segment.
///
/// An identifier of this server appears as it is. That of an imported user is `~` followed by its base64url encoding,
/// so it is never equal to a segment of another page, and no proxy changes it (``ClientPathSegment``).
enum UserPathSegment {
    private static let mark: Character = "~"

    /// Returns the segment of an identifier.
    static func encode(_ id: UserIdentifier) -> String {
        id.isOwn ? id.rawValue : "\(mark)\(Base64URL.encode(Array(id.rawValue.utf8)))"
    }

    /// Returns the identifier of a segment; nil if the segment is not the form of any identifier.
    static func decode(_ segment: some StringProtocol) -> UserIdentifier? {
        guard segment.first == mark else {
            return UserIdentifier(String(segment)).flatMap { $0.isOwn && !$0.isPseudonym ? $0 : nil }
        }
        guard let bytes = Base64URL.decode(segment.dropFirst()),
            let text = String(validating: bytes, as: UTF8.self), let id = UserIdentifier(text), !id.isOwn
        else { return nil }
        return id
    }
}
