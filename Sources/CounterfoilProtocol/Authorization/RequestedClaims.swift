import CounterfoilPlatform

/// The individual claims that a client requests with the parameter `claims`.
///
/// OpenID Connect Core §5.5. This type keeps only the names of the claims. The server omits a claim that the
/// user does not have.
///
/// The parameter can contain `essential`, `value` and `values` for each claim. These members are ignored except for
/// two claims (see ``Parameter``):
///
/// - for `acr` in the ID token, `essential`, `value` and `values` have an effect,
/// - for `sub`, `value` and `values` have an effect.
public struct RequestedClaims: Sendable, Hashable {
    /// The maximum number of claims in each of `id_token` and `userinfo`.
    public static let limit = 64
    /// The maximum length of the parameter `claims` in bytes.
    public static let byteLimit = 4096
    /// The maximum nesting depth of objects and arrays in the parameter `claims`.
    public static let depthLimit = 4

    /// The names of the claims requested for the ID token.
    public var idToken: Set<String>
    /// The names of the claims requested for the UserInfo response.
    public var userInfo: Set<String>

    /// Creates a request for claims by name, separately for the ID token and the UserInfo response.
    public init(idToken: Set<String> = [], userInfo: Set<String> = []) {
        self.idToken = idToken
        self.userInfo = userInfo
    }

    /// Whether the client requests no claim by name, neither in the ID token nor in the UserInfo response.
    public var isEmpty: Bool { idToken.isEmpty && userInfo.isEmpty }

    /// Returns the requested claims whose names are in the given set.
    public func named(_ names: Set<String>) -> RequestedClaims {
        RequestedClaims(idToken: idToken.intersection(names), userInfo: userInfo.intersection(names))
    }
}

extension RequestedClaims {
    /// The parsed parameter `claims`: the names of the claims, and the required `acr` and `sub` values.
    public struct Parameter: Sendable, Hashable {
        /// The names of the claims, separately for the ID token and the UserInfo response.
        public let claims: RequestedClaims
        /// The authentication contexts, one of which the sign-in must have (OpenID Connect Core §5.5.1.1).
        ///
        /// Empty if any context is acceptable, because `acr` in the ID token is not essential or has no value.
        public let requiredContexts: [String]
        /// The authentication contexts that the client prefers, as in `acr_values` (OpenID Connect Core §5.5.1.1).
        ///
        /// Empty if `acr` in the ID token is essential or has no value.
        public let preferredContexts: [String]
        /// The subject identifiers, one of which the user must have (OpenID Connect Core §5.5.1).
        ///
        /// These are `sub` values as this client receives them, so they can be pairwise. Nil if any user is acceptable.
        /// Empty if `id_token` and `userinfo` require different subjects, so that no user is acceptable.
        public let requiredSubjects: Set<String>?

        /// The value of the parameter `claims`, in JSON (OpenID Connect Core §5.5).
        ///
        /// Members that the parser ignores are not included, such as `essential` of other claims than `acr`.
        public var text: String {
            var writer = JSONWriter()
            writer.object { writer in
                if !claims.userInfo.isEmpty {
                    writer.member("userinfo", object: { writer in write(claims.userInfo, contexts: [], to: &writer) })
                }
                if !claims.idToken.isEmpty {
                    writer.member(
                        "id_token",
                        object: { writer in
                            write(claims.idToken, contexts: requiredContexts + preferredContexts, to: &writer)
                        })
                }
            }
            return String(decoding: writer.bytes, as: UTF8.self)
        }

        private func write(_ names: Set<String>, contexts: [String], to writer: inout JSONWriter) {
            for name in names.sorted() {
                switch name {
                case "acr" where !contexts.isEmpty:
                    writer.member(
                        name,
                        object: { writer in
                            if !requiredContexts.isEmpty { writer.member("essential", true) }
                            writer.member("values", list: { for context in contexts { $0.element(context) } })
                        })
                case "sub" where requiredSubjects?.isEmpty == false:
                    writer.member(
                        name,
                        object: { writer in
                            writer.member(
                                "values",
                                list: { for subject in requiredSubjects?.sorted() ?? [] { $0.element(subject) } })
                        })
                default: writer.member(name, object: { _ in })
                }
            }
        }
    }

    /// The reason why ``RequestedClaims/parameter(parsing:)`` rejects a value of the parameter `claims`.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The parameter is longer than ``RequestedClaims/byteLimit`` bytes.
        case tooLong
        /// The parameter is not a JSON object with the members that OpenID Connect Core §5.5 defines.
        case malformed
        /// The nesting is deeper than ``RequestedClaims/depthLimit``.
        case tooDeep
        /// `id_token` or `userinfo` contains more than ``RequestedClaims/limit`` claims.
        case tooMany

        /// An explanation that is safe to show to users.
        public var description: String {
            switch self {
            case .tooLong: "claims is longer than \(RequestedClaims.byteLimit) bytes"
            case .malformed:
                "claims must be a JSON object whose members userinfo and id_token are objects with one member per claim"
            case .tooDeep: "claims is nested more than \(RequestedClaims.depthLimit) levels deep"
            case .tooMany: "claims requests more than \(RequestedClaims.limit) claims in userinfo or id_token"
            }
        }
    }

    /// Parses the parameter `claims`; claims whose names are not visible ASCII characters are dropped.
    public static func parameter(parsing text: String) throws(Refusal) -> Parameter {
        guard text.utf8.count <= byteLimit else { throw .tooLong }
        // The depth is checked before decoding: the JSON decoder is recursive, so deep nesting could exhaust the stack.
        guard depth(of: text) <= depthLimit else { throw .tooDeep }
        let members: WireMembers
        do { members = try JSONDecoder().decode(WireMembers.self, from: Data(text.utf8)) } catch { throw .malformed }
        let (idToken, userInfo) = (members.idToken ?? [:], members.userInfo ?? [:])
        guard idToken.count <= limit, userInfo.count <= limit else { throw .tooMany }
        // The store keeps the names in one text, delimited by spaces. Empty names and names with characters
        // other than visible ASCII are therefore dropped.
        func names(_ claims: [String: WireClaim?]) -> Set<String> {
            Set(claims.keys.filter { !$0.isEmpty && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
        }
        let context = idToken["acr"].flatMap { $0 }
        let subjects = [idToken, userInfo].compactMap { $0["sub"].flatMap { $0 }?.texts }.filter { !$0.isEmpty }.map(
            Set.init)
        return Parameter(
            claims: RequestedClaims(idToken: names(idToken), userInfo: names(userInfo)),
            requiredContexts: context?.essential == true ? context?.texts ?? [] : [],
            preferredContexts: context?.essential == true ? [] : context?.texts ?? [],
            requiredSubjects: subjects.dropFirst().reduce(subjects.first) { $0?.intersection($1) })
    }

    private static func depth(of text: String) -> Int {
        var (depth, deepest, inString, escaped) = (0, 0, false, false)
        for byte in text.utf8 {
            switch byte {
            case _ where escaped: escaped = false
            case UInt8(ascii: "\\") where inString: escaped = true
            case UInt8(ascii: "\""): inString.toggle()
            case UInt8(ascii: "{") where !inString, UInt8(ascii: "[") where !inString:
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "}") where !inString, UInt8(ascii: "]") where !inString: depth -= 1
            default: break
            }
        }
        return deepest
    }
}

/// The members of `claims` that OpenID Connect Core §5.5 defines; other members are ignored.
private struct WireMembers: Decodable {
    let userInfo: [String: WireClaim?]?
    let idToken: [String: WireClaim?]?

    enum CodingKeys: String, CodingKey {
        case userInfo = "userinfo"
        case idToken = "id_token"
    }
}

/// The request for one claim: an object with `essential`, `value` and `values` (OpenID Connect Core §5.5.1).
///
/// The request can also be null, for which `WireMembers` contains nil.
private struct WireClaim: Decodable {
    let essential: Bool?
    /// The strings in `value` and `values`; values of other types are ignored.
    let texts: [String]

    enum CodingKeys: String, CodingKey {
        case essential, value, values
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        essential = try members.decodeIfPresent(Bool.self, forKey: .essential)
        let one = try? members.decodeIfPresent(String.self, forKey: .value)
        let several = try? members.decodeIfPresent([String].self, forKey: .values)
        texts = (one.flatMap { $0 }.map { [$0] } ?? []) + (several.flatMap { $0 } ?? [])
    }
}
