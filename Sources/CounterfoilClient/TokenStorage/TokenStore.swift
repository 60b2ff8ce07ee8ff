/// What keeps credentials between two runs of an application.
///
/// A store takes what only the person who runs the application may read (RFC 8252 §8.12 and RFC 6749 §10.3); it keeps no
/// refresh token of a client that does not refresh.
public protocol TokenStore: Sendable {
    /// The credentials of a profile, or nil when there are none.
    func credentials(of profile: ProfileName) async throws(TokenStoreError) -> Credentials?

    /// Keeps the credentials of a profile in place of those that it had; durable when it returns.
    func save(_ credentials: Credentials, as profile: ProfileName) async throws(TokenStoreError)

    /// Forgets the credentials of a profile; answers whether there were any.
    @discardableResult
    func remove(_ profile: ProfileName) async throws(TokenStoreError) -> Bool
}

/// The name under which credentials are kept, one for each server and person that an application knows.
public struct ProfileName: Sendable, Hashable, CustomStringConvertible {
    /// The name.
    public let rawValue: String

    /// `default`.
    public static let standard = ProfileName(known: "default")

    /// A name of 1 to 64 letters, digits and `-` `_` `.`, or nil.
    public init?(_ text: String) {
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard (1...64).contains(text.utf8.count), isName else { return nil }
        rawValue = text
    }

    private init(known: String) { rawValue = known }

    /// The name.
    public var description: String { rawValue }
}

/// Why a token store cannot do what it should.
public enum TokenStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file could be read or changed by others; nothing was read from it.
    case notPrivate(path: String, reason: String)
    /// A file is damaged, or does not belong to its key.
    case unreadable(path: String)
    /// The system refused; the reason is the system's.
    case failed(path: String, reason: String)

    /// What happened and what to do, safe to show.
    public var description: String {
        switch self {
        case .notPrivate(let path, let reason): "the token store is not private: \(path) \(reason)"
        case .unreadable(let path):
            "the token store \(path) cannot be read with its key; delete both files and sign in again"
        case .failed(let path, let reason): "the token store \(path) cannot be used: \(reason)"
        }
    }
}
