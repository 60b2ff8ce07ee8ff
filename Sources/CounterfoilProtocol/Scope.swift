/// A set of scope tokens in the order in which they were written.
///
/// Wire name `scope`, RFC 6749 §3.3: case-sensitive tokens, delimited by single spaces, in any order. A token given twice
/// counts once. At most 4096 bytes and 100 tokens.
public struct Scope: Sendable, Hashable {
    /// One permission name, for example `photos.read`.
    public struct Token: Sendable, Hashable, Comparable, CustomStringConvertible {
        /// The name as it stands on the wire.
        public let rawValue: String

        /// A name of 1 to 255 characters `%x21 / %x23-5B / %x5D-7E`, or nil.
        public init?(_ rawValue: some StringProtocol) {
            guard (1...255).contains(rawValue.utf8.count), rawValue.bytesAllSatisfy(\.isUnquoted) else { return nil }
            self.rawValue = String(rawValue)
        }

        private init(known: String) { rawValue = known }

        /// `openid` (OpenID Connect Core §3.1.2.1).
        public static let openID = Token(known: "openid")
        /// `profile` (OpenID Connect Core §5.4).
        public static let profile = Token(known: "profile")
        /// `email` (OpenID Connect Core §5.4).
        public static let email = Token(known: "email")
        /// `address` (OpenID Connect Core §5.4).
        public static let address = Token(known: "address")
        /// `phone` (OpenID Connect Core §5.4).
        public static let phone = Token(known: "phone")
        /// `offline_access` (OpenID Connect Core §11).
        public static let offlineAccess = Token(known: "offline_access")

        /// The name as it stands on the wire.
        public var description: String { rawValue }

        /// Orders by the bytes of the names.
        public static func < (left: Token, right: Token) -> Bool { left.rawValue < right.rawValue }
    }

    /// Why a text is not a scope.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// More than ``Scope/byteLimit`` bytes.
        case tooLong
        /// More than ``Scope/tokenLimit`` tokens.
        case tooManyTokens
        /// A character outside the alphabet, a tab, a double or a leading space.
        case malformed

        /// What happened, safe to show.
        public var description: String {
            switch self {
            case .tooLong: "the scope is longer than \(Scope.byteLimit) bytes"
            case .tooManyTokens: "the scope names more than \(Scope.tokenLimit) permissions"
            case .malformed: "the scope must be names delimited by single spaces"
            }
        }
    }

    /// The most bytes of a scope on the wire.
    public static let byteLimit = 4096
    /// The most distinct tokens of a scope.
    public static let tokenLimit = 100

    /// The tokens, each once, in order.
    public private(set) var tokens: [Token]

    /// Makes a scope of tokens; a repeated one counts once.
    public init(_ tokens: some Sequence<Token> = []) {
        let given = Array(tokens)
        guard given.count > Self.few else {
            self.tokens = given.indices.filter { !given[..<$0].contains(given[$0]) }.map { given[$0] }
            return
        }
        var seen: Set<Token> = []
        self.tokens = given.filter { seen.insert($0).inserted }
    }

    private init(distinct tokens: [Token]) { self.tokens = tokens }

    /// Up to so many tokens, comparing with each costs less than hashing.
    private static let few = 16

    /// Tells whether a token is in the scope; for asking often.
    private var membership: (Token) -> Bool {
        guard tokens.count > Self.few else { return tokens.contains }
        return Set(tokens).contains
    }

    /// Parses the wire form.
    public init(parsing text: String) throws(Refusal) {
        guard text.utf8.count <= Self.byteLimit else { throw .tooLong }
        var tokens: [Token] = []
        for piece in text.split(separator: " ", omittingEmptySubsequences: false) {
            guard let token = Token(piece) else { throw .malformed }
            tokens.append(token)
        }
        self.init(tokens)
        guard self.tokens.count <= Self.tokenLimit else { throw .tooManyTokens }
    }

    /// Whether there is no token.
    public var isEmpty: Bool { tokens.isEmpty }

    /// Whether a token is in the scope.
    public func contains(_ token: Token) -> Bool { tokens.contains(token) }

    /// Whether every token is in the other scope too.
    public func isSubset(of other: Scope) -> Bool {
        tokens.allSatisfy(other.membership)
    }

    /// The tokens that are in both, in the order of this one.
    public func intersection(_ other: Scope) -> Scope {
        Scope(distinct: tokens.filter(other.membership))
    }

    /// The tokens of this one, then those that only the other has.
    public func union(_ other: Scope) -> Scope { Scope(tokens + other.tokens) }

    /// Two scopes are equal when they hold the same tokens, in whatever order.
    public static func == (left: Scope, right: Scope) -> Bool {
        left.tokens.count == right.tokens.count && left.isSubset(of: right)
    }

    /// Hashes the tokens, whatever their order.
    public func hash(into hasher: inout Hasher) { hasher.combine(Set(tokens)) }
}

extension Scope: CustomStringConvertible {
    /// The wire form: the tokens, delimited by single spaces.
    public var description: String { tokens.map(\.rawValue).joined(separator: " ") }
}

extension Scope: Codable {
    /// Decodes the wire form.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        try self.init(lenient: text)
    }

    /// A scope in an answer or a record may be the empty text, which a request may not.
    public init(lenient text: String) throws(Refusal) {
        if text.isEmpty {
            self.init()
        } else {
            try self.init(parsing: text)
        }
    }

    /// Encodes the wire form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
