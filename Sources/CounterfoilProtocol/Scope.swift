/// A set of scope tokens that preserves their order.
///
/// The parameter `scope`, RFC 6749 §3.3: case-sensitive tokens, delimited by single spaces, in any order.
/// Repeated tokens count once. Parsing accepts at most 4096 bytes and 100 tokens. It ignores surplus spaces, because
/// clients that build the parameter from a list send them, and no token contains a space.
public struct Scope: Sendable, Hashable {
    /// A scope token, for example `photos.read`.
    public struct Token: Sendable, Hashable, Comparable, CustomStringConvertible {
        /// The token, as it is sent.
        public let rawValue: String

        /// Creates a token; nil if it is not 1 to 255 characters of `%x21 / %x23-5B / %x5D-7E`.
        public init?(_ rawValue: some StringProtocol) {
            guard (1...255).contains(rawValue.utf8.count), rawValue.bytesAllSatisfy(\.isUnquoted) else { return nil }
            self.rawValue = String(rawValue)
        }

        private init(known: String) { rawValue = known }

        /// `openid`, which requests an ID token (OpenID Connect Core §3.1.2.1).
        public static let openID = Token(known: "openid")
        /// `profile`, which requests claims such as `name` and `picture` (OpenID Connect Core §5.4).
        public static let profile = Token(known: "profile")
        /// `email`, which requests the claims `email` and `email_verified` (OpenID Connect Core §5.4).
        public static let email = Token(known: "email")
        /// `address`, which requests the claim `address`, a postal address (OpenID Connect Core §5.4).
        public static let address = Token(known: "address")
        /// `phone`, which requests the claims `phone_number` and `phone_number_verified` (OpenID Connect Core §5.4).
        public static let phone = Token(known: "phone")
        /// `offline_access`, which requests a refresh token (OpenID Connect Core §11).
        public static let offlineAccess = Token(known: "offline_access")

        /// The token as it is sent; equal to ``rawValue``.
        public var description: String { rawValue }

        /// Orders tokens by their ASCII characters, upper case before lower case.
        public static func < (left: Token, right: Token) -> Bool { left.rawValue < right.rawValue }
    }

    /// The error for a string that is not a scope or exceeds a limit; in a request it leads to `invalid_scope`.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The scope is longer than ``Scope/byteLimit`` bytes.
        case tooLong
        /// The scope has more than ``Scope/tokenLimit`` distinct tokens.
        case tooManyTokens
        /// The scope has no token, or contains an invalid character.
        case malformed

        /// An explanation that is safe to show to users.
        public var description: String {
            switch self {
            case .tooLong: "the scope is longer than \(Scope.byteLimit) bytes"
            case .tooManyTokens: "the scope contains more than \(Scope.tokenLimit) scope tokens"
            case .malformed: "the scope must be a list of scope tokens separated by spaces"
            }
        }
    }

    /// The maximum length of a parsed scope in bytes.
    public static let byteLimit = 4096
    /// The maximum number of distinct tokens in a parsed scope.
    public static let tokenLimit = 100

    /// The distinct tokens, in order of first occurrence.
    public private(set) var tokens: [Token]

    /// Creates a scope from tokens; repeated tokens count once.
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

    /// The maximum number of tokens for which linear search is faster than hashing.
    private static let few = 16

    /// A predicate that returns true if the scope contains a token.
    ///
    /// For a large scope, each read of this property builds a hash set. Read it once to test many tokens.
    private var membership: (Token) -> Bool {
        guard tokens.count > Self.few else { return tokens.contains }
        return Set(tokens).contains
    }

    /// Parses the scope of a request, which must not be empty.
    public init(parsing text: String) throws(Refusal) {
        try self.init(lenient: text)
        guard !isEmpty else { throw .malformed }
    }

    /// Whether the scope has no tokens, which is possible in a response or stored record but not in a request.
    public var isEmpty: Bool { tokens.isEmpty }

    /// Returns true if the scope contains a token, compared case-sensitively.
    public func contains(_ token: Token) -> Bool { tokens.contains(token) }

    /// Returns true if the other scope contains every token of this scope.
    public func isSubset(of other: Scope) -> Bool {
        tokens.allSatisfy(other.membership)
    }

    /// Returns the tokens that both scopes contain, in the order of this scope.
    public func intersection(_ other: Scope) -> Scope {
        Scope(distinct: tokens.filter(other.membership))
    }

    /// Returns the tokens of this scope, followed by the tokens that only the other scope contains.
    public func union(_ other: Scope) -> Scope { Scope(tokens + other.tokens) }

    /// Returns true if two scopes contain the same tokens, in any order.
    public static func == (left: Scope, right: Scope) -> Bool {
        left.tokens.count == right.tokens.count && left.isSubset(of: right)
    }

    /// Hashes the tokens independently of their order.
    public func hash(into hasher: inout Hasher) { hasher.combine(Set(tokens)) }
}

extension Scope: CustomStringConvertible {
    /// The scope, as it is sent: the tokens, delimited by single spaces.
    public var description: String { tokens.map(\.rawValue).joined(separator: " ") }
}

extension Scope: Codable {
    /// Decodes a scope from a string, which may be empty.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        try self.init(lenient: text)
    }

    /// Parses the scope of a response or of a stored record, which may be empty.
    ///
    /// For the scope of a request, which must not be empty, use ``init(parsing:)``.
    public init(lenient text: String) throws(Refusal) {
        guard text.utf8.count <= Self.byteLimit else { throw .tooLong }
        var tokens: [Token] = []
        for piece in text.split(separator: " ") {
            guard let token = Token(piece) else { throw .malformed }
            tokens.append(token)
        }
        self.init(tokens)
        guard self.tokens.count <= Self.tokenLimit else { throw .tooManyTokens }
    }

    /// Encodes the scope as a string of tokens, delimited by single spaces.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
