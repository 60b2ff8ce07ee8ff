/// The header of a received token; its content is not trusted.
///
/// RFC 7515 §4.
struct TokenHeader: Sendable {
    /// The header parameters that no received token may have (RFC 8725 §3.10, RFC 7515 §4.1.11).
    ///
    /// With `jku`, `x5u` and `x5c`, the sender could choose the key. `crit` names extensions that the verifier must
    /// understand, and no extension is implemented.
    private static let refusedNames = ["crit", "jku", "x5u", "x5c"]
    /// The header parameter with the key of the sender, which only a token that proves possession of this key may have.
    private static let keyName = "jwk"

    private let type: String?
    private let algorithm: String?
    /// The value of `kid`, which selects the key; nil if the header has none.
    let keyID: KeyIdentifier?
    /// The value of `jwk`; nil if the header has none.
    let key: JSONValue?
    private let refusedName: String?

    init(parsing bytes: [UInt8]) throws(TokenRefusal) {
        guard let members = try? JSONReader.object(bytes) else { throw .malformed(.header) }
        type = try Self.text(members["typ"])
        algorithm = try Self.text(members["alg"])
        keyID = try Self.text(members["kid"]).map { KeyIdentifier($0) }
        guard keyID?.rawValue.utf8.count ?? 1 <= KeyIdentifier.byteLimit else { throw .malformed(.header) }
        key = members[Self.keyName]
        refusedName = Self.refusedNames.first { members[$0] != nil }
    }

    /// Checks the header against the expectation of the verifier, and returns the type and the algorithm.
    ///
    /// The type is nil if the header has none.
    func accept(
        _ expectation: Expectation
    ) throws(TokenRefusal) -> (type: TokenType?, algorithm: SigningAlgorithm) {
        // RFC 9068 §4: the type is checked first, so that a token of another kind always fails with `wrongType`.
        let accepted = type.flatMap { text in expectation.types.first { $0.isStated(by: text) } }
        guard accepted != nil || type == nil && expectation.mayBeUntyped else { throw .wrongType }
        // RFC 8725 §3.1: the algorithm must be in an allowlist, which cannot contain `none`.
        guard let stated = algorithm.flatMap(SigningAlgorithm.init(rawValue:)), expectation.algorithms.contains(stated)
        else {
            throw .algorithmNotAllowed
        }
        if let refusedName { throw .headerNotAllowed(refusedName) }
        guard key == nil || expectation.mayCarryKey else { throw .headerNotAllowed(Self.keyName) }
        return (accepted, stated)
    }

    /// The types and the algorithms that a verifier accepts.
    struct Expectation: Sendable {
        let types: [TokenType]
        /// Whether a header without `typ` is accepted, too.
        let mayBeUntyped: Bool
        let algorithms: Set<SigningAlgorithm>
        /// Whether the header may contain the key of the sender (`jwk`).
        var mayCarryKey = false
    }

    private static func text(_ value: JSONValue?) throws(TokenRefusal) -> String? {
        switch value {
        case nil: return nil
        case .string(let text): return text
        default: throw .malformed(.header)
        }
    }
}
