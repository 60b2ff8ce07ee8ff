/// The header of a token as it came from the wire: nothing in it is believed yet.
///
/// RFC 7515 §4.
struct TokenHeader: Sendable {
    /// Header parameters that bring rules or keys of their own; RFC 8725 §3.10 and RFC 7515 §4.1.11.
    ///
    /// No extension is implemented, so that `crit` can name none that is.
    private static let refusedNames = ["crit", "jku", "jwk", "x5u", "x5c"]

    private let type: String?
    private let algorithm: String?
    /// The key that the token names.
    let keyID: KeyIdentifier?
    private let refusedName: String?

    init(parsing bytes: [UInt8]) throws(TokenRefusal) {
        guard let members = try? JSONReader.object(bytes) else { throw .malformed(.header) }
        type = try Self.text(members["typ"])
        algorithm = try Self.text(members["alg"])
        keyID = try Self.text(members["kid"]).map { KeyIdentifier($0) }
        guard keyID?.rawValue.utf8.count ?? 1 <= KeyIdentifier.byteLimit else { throw .malformed(.header) }
        refusedName = Self.refusedNames.first { members[$0] != nil }
    }

    /// Judges the header by what the verifier expects; answers the algorithm to verify with.
    func accept(_ expectation: Expectation) throws(TokenRefusal) -> SigningAlgorithm {
        // RFC 9068 §4: the type first, so that another kind of token is recognised whatever else it says.
        guard type.map(expectation.type.isStated(by:)) ?? expectation.mayBeUntyped else { throw .wrongType }
        // RFC 8725 §3.1: an allowlist, of which `none` cannot be a member.
        guard let stated = algorithm.flatMap(SigningAlgorithm.init(rawValue:)), expectation.algorithms.contains(stated)
        else {
            throw .algorithmNotAllowed
        }
        if let refusedName { throw .headerNotAllowed(refusedName) }
        return stated
    }

    /// What a verifier expects of a header.
    struct Expectation: Sendable {
        let type: TokenType
        let mayBeUntyped: Bool
        let algorithms: Set<SigningAlgorithm>
    }

    private static func text(_ value: JSONValue?) throws(TokenRefusal) -> String? {
        switch value {
        case nil: return nil
        case .string(let text): return text
        default: throw .malformed(.header)
        }
    }
}
