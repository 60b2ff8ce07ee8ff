import CounterfoilProtocol

/// The statement of an introspection response about the key to which a token is bound.
///
/// RFC 9449 §6.2. The claim `cnf` of the token decides in any case, because the issuer has signed it. A response that
/// contradicts the claim makes the token invalid.
enum IntrospectedBinding: Sendable, Hashable {
    /// The response says nothing about a key, as many servers do for bound tokens too.
    case unstated
    /// `token_type` is `DPoP`, but the response does not name the key.
    case unnamedKey
    /// `jkt` of `cnf`: the thumbprint of the key.
    case key(KeyThumbprint)
    /// `cnf` contains no valid `jkt`, but for example the thumbprint of a certificate.
    case unknown

    /// The member `cnf` of a response.
    struct Confirmation: Decodable {
        let jkt: String?
    }

    init(_ confirmation: Confirmation?, tokenType: String?) {
        switch (confirmation, tokenType?.lowercased()) {
        case (let confirmation?, _): self = confirmation.jkt.flatMap(KeyThumbprint.init).map(Self.key) ?? .unknown
        case (nil, "dpop"): self = .unnamedKey
        case (nil, _): self = .unstated
        }
    }

    /// Returns true if the statement does not contradict the claim `cnf` of the token.
    func agrees(with thumbprint: KeyThumbprint?) -> Bool {
        switch self {
        case .unstated: true
        case .unnamedKey: thumbprint != nil
        case .key(let stated): stated == thumbprint
        case .unknown: false
        }
    }
}
