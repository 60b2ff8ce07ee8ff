import Foundation

/// The individual claims that a client requests.
///
/// Wire name `claims`, OpenID Connect Core §5.5. Only claim names are kept. `essential` has an effect only
/// for `acr` in the ID token. `value` and `values` have an effect only for that `acr` and for `sub`. A
/// claim that the user does not have is omitted from the response.
public struct RequestedClaims: Sendable, Hashable {
    /// The maximum number of claims in `id_token` and in `userinfo`.
    public static let limit = 64
    /// The maximum length of the parameter in bytes.
    public static let byteLimit = 4096
    /// The maximum nesting depth of objects and arrays in the parameter.
    public static let depthLimit = 4

    /// The names of the claims requested for the ID token.
    public var idToken: Set<String>
    /// The names of the claims requested for the UserInfo response.
    public var userInfo: Set<String>

    /// Creates a request for claims by name.
    public init(idToken: Set<String> = [], userInfo: Set<String> = []) {
        self.idToken = idToken
        self.userInfo = userInfo
    }

    /// Whether no claim is requested.
    public var isEmpty: Bool { idToken.isEmpty && userInfo.isEmpty }

    /// Returns the requested claims whose names are in the given set.
    public func named(_ names: Set<String>) -> RequestedClaims {
        RequestedClaims(idToken: idToken.intersection(names), userInfo: userInfo.intersection(names))
    }
}

extension RequestedClaims {
    /// The parsed parameter: the names of the claims, and the required `acr` and `sub` values.
    public struct Parameter: Sendable, Hashable {
        /// The requested claims.
        public let claims: RequestedClaims
        /// The authentication contexts of which one is required (OpenID Connect Core §5.5.1.1); empty if
        /// none is required.
        public let requiredContexts: [String]
        /// The subject identifiers of which the response must contain one (OpenID Connect Core §5.5.1).
        ///
        /// The identifiers are those that the client knows. Nil if any subject is acceptable; empty if no
        /// subject satisfies the request.
        public let requiredSubjects: Set<String>?
    }

    /// The reason why a string is not a valid `claims` parameter.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The parameter is longer than ``RequestedClaims/byteLimit`` bytes.
        case tooLong
        /// The parameter is not a JSON object of the form that the standard defines.
        case malformed
        /// The nesting is deeper than ``RequestedClaims/depthLimit``.
        case tooDeep
        /// The parameter contains more than ``RequestedClaims/limit`` claims in one place.
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

    /// Parses the parameter.
    public static func parameter(parsing text: String) throws(Refusal) -> Parameter {
        guard text.utf8.count <= byteLimit else { throw .tooLong }
        // Checked before the recursive JSON parser sees the text.
        guard depth(of: text) <= depthLimit else { throw .tooDeep }
        let members: WireMembers
        do { members = try JSONDecoder().decode(WireMembers.self, from: Data(text.utf8)) } catch { throw .malformed }
        let (idToken, userInfo) = (members.idToken ?? [:], members.userInfo ?? [:])
        guard idToken.count <= limit, userInfo.count <= limit else { throw .tooMany }
        // Names are stored as a space-delimited list, so names with other characters are dropped.
        func names(_ claims: [String: WireClaim?]) -> Set<String> {
            Set(claims.keys.filter { !$0.isEmpty && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
        }
        let context = idToken["acr"].flatMap { $0 }
        let subjects = [idToken, userInfo].compactMap { $0["sub"].flatMap { $0 }?.texts }.filter { !$0.isEmpty }.map(
            Set.init)
        return Parameter(
            claims: RequestedClaims(idToken: names(idToken), userInfo: names(userInfo)),
            requiredContexts: context?.essential == true ? context?.texts ?? [] : [],
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

/// The members of the parameter that are defined (OpenID Connect Core §5.5); other members are ignored.
private struct WireMembers: Decodable {
    let userInfo: [String: WireClaim?]?
    let idToken: [String: WireClaim?]?

    enum CodingKeys: String, CodingKey {
        case userInfo = "userinfo"
        case idToken = "id_token"
    }
}

/// The request for one claim (OpenID Connect Core §5.5.1): null, or an object with `essential`, `value` and
/// `values`.
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
