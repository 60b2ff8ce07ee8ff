import Foundation

/// The claims that an application asks for one by one.
///
/// Wire name `claims`, OpenID Connect Core §5.5. Only names are kept: whether a claim is essential changes nothing here, except
/// for how somebody signed in, nor does what it should be, except for who signs in; and a claim that nobody has is left out.
public struct RequestedClaims: Sendable, Hashable {
    /// The most claims of each place.
    public static let limit = 64
    /// The most bytes of the parameter.
    public static let byteLimit = 4096
    /// The most objects and arrays of the parameter inside each other.
    public static let depthLimit = 4

    /// Those to be in the ID token.
    public var idToken: Set<String>
    /// Those to be in the answer of the UserInfo endpoint.
    public var userInfo: Set<String>

    /// Claims by name; none unless given.
    public init(idToken: Set<String> = [], userInfo: Set<String> = []) {
        self.idToken = idToken
        self.userInfo = userInfo
    }

    /// Whether none is asked for.
    public var isEmpty: Bool { idToken.isEmpty && userInfo.isEmpty }

    /// Those of certain names.
    public func named(_ names: Set<String>) -> RequestedClaims {
        RequestedClaims(idToken: idToken.intersection(names), userInfo: userInfo.intersection(names))
    }
}

extension RequestedClaims {
    /// The parameter as it was read: the names, and how the person must have signed in.
    public struct Parameter: Sendable, Hashable {
        /// The claims that are asked for.
        public let claims: RequestedClaims
        /// The ways of signing in of which one is required (OpenID Connect Core §5.5.1.1); empty when none is.
        public let requiredContexts: [String]
        /// The names of whom the answer must be about (OpenID Connect Core §5.5.1), as the application knows them; nil where it may
        /// be about anybody.
        public let requiredSubjects: Set<String>?
    }

    /// Why a text is not the parameter.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is longer than it may be.
        case tooLong
        /// It is not one JSON object of the form that the standard gives.
        case malformed
        /// Its objects lie too deep inside each other.
        case tooDeep
        /// It names more claims than are read.
        case tooMany

        /// What happened, safe to show.
        public var description: String {
            switch self {
            case .tooLong: "claims is longer than \(RequestedClaims.byteLimit) bytes"
            case .malformed:
                "claims must be a JSON object with the members userinfo and id_token, objects of claims by name"
            case .tooDeep: "claims has more than \(RequestedClaims.depthLimit) objects inside each other"
            case .tooMany: "claims names more than \(RequestedClaims.limit) claims in one place"
            }
        }
    }

    /// Reads the parameter.
    public static func parameter(parsing text: String) throws(Refusal) -> Parameter {
        guard text.utf8.count <= byteLimit else { throw .tooLong }
        // Before a parser that works its way down sees it.
        guard depth(of: text) <= depthLimit else { throw .tooDeep }
        let members: WireMembers
        do { members = try JSONDecoder().decode(WireMembers.self, from: Data(text.utf8)) } catch { throw .malformed }
        let (idToken, userInfo) = (members.idToken ?? [:], members.userInfo ?? [:])
        guard idToken.count <= limit, userInfo.count <= limit else { throw .tooMany }
        // A name is kept in a list that spaces divide.
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

/// The members of the parameter that mean something (OpenID Connect Core §5.5); others are left alone.
private struct WireMembers: Decodable {
    let userInfo: [String: WireClaim?]?
    let idToken: [String: WireClaim?]?

    enum CodingKeys: String, CodingKey {
        case userInfo = "userinfo"
        case idToken = "id_token"
    }
}

/// What is said of one claim (OpenID Connect Core §5.5.1): nothing, or whether it is essential and what it must be.
private struct WireClaim: Decodable {
    let essential: Bool?
    /// The values that are texts; no other is of use here.
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
