import CounterfoilProtocol

/// The members of a JSON Web Key as they were received, before validation.
///
/// RFC 7517 §4 and RFC 7518 §6. Unknown members are ignored (RFC 7517 §4).
struct JSONWebKeyMembers: Decodable {
    private enum Name: String, CodingKey, CaseIterable {
        case kty, kid, alg, use, crv, x, y, n, e
        case operations = "key_ops"
        /// Members of private and symmetric keys (RFC 7518 §6.2.2, §6.3.2 and §6.4.1).
        case d, p, q, dp, dq, qi, oth, k

        var isPrivate: Bool {
            switch self {
            case .d, .p, .q, .dp, .dq, .qi, .oth, .k: true
            case .kty, .kid, .alg, .use, .operations, .crv, .x, .y, .n, .e: false
            }
        }
    }

    private var texts: [Name: String] = [:]
    private var operations: [String]?
    private var hasPrivateMembers = false

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        hasPrivateMembers = container.allKeys.contains(where: \.isPrivate)
        operations = try container.decodeIfPresent([String].self, forKey: .operations)
        for name in container.allKeys where !name.isPrivate && name != .operations {
            texts[name] = try container.decode(String.self, forKey: name)
        }
    }

    /// Reads the members of a key from one object of the array `keys` of a key set.
    init(_ members: [String: JSONValue]) throws(JSONWebKey.Refusal) {
        for name in Name.allCases {
            guard let value = members[name.rawValue] else { continue }
            switch (name, value) {
            case (_, _) where name.isPrivate: hasPrivateMembers = true
            case (.operations, .array(let values)):
                operations = values.map { $0.text ?? "" }
            case (_, .string(let text)): texts[name] = text
            default: throw .malformed
            }
        }
    }

    /// Validates the members and creates the key.
    func key() throws(JSONWebKey.Refusal) -> JSONWebKey {
        guard !hasPrivateMembers, texts[.kty] != "oct" else { throw .privateMaterial }
        guard texts[.use] ?? "sig" == "sig", operations?.contains("verify") ?? true else { throw .notForSignatures }
        guard (texts[.kid]?.utf8.count ?? 0) <= KeyIdentifier.byteLimit else { throw .malformed }
        let material = try material()
        let names = material.algorithms
        guard let algorithm = texts[.alg].map({ name in names.first { $0.rawValue == name } }) ?? names.first else {
            throw .unsupportedAlgorithm
        }
        return JSONWebKey(material, algorithm: algorithm, id: texts[.kid].map { KeyIdentifier($0) })
    }

    private func material() throws(JSONWebKey.Refusal) -> PublicKeyMaterial {
        let material: PublicKeyMaterial?
        switch (texts[.kty], texts[.crv]) {
        case ("EC", "P-256"): material = PublicKeyMaterial(x: try octets(.x), y: try octets(.y))
        case ("RSA", nil): material = PublicKeyMaterial(modulus: try octets(.n), exponent: try octets(.e))
        case ("OKP", "Ed25519"): material = PublicKeyMaterial(ed25519: try octets(.x))
        default: throw .unsupportedKeyType
        }
        guard let material else { throw .malformed }
        return material
    }

    private func octets(_ name: Name) throws(JSONWebKey.Refusal) -> [UInt8] {
        guard let text = texts[name], let octets = Base64URL.decode(text) else { throw .malformed }
        return octets
    }
}

extension JSONWebKey: Codable {
    private enum Name: String, CodingKey {
        case kty, crv, x, y, n, e, kid, alg, use
    }

    /// Decodes the JSON form of RFC 7517.
    ///
    /// A private or symmetric key is rejected.
    public init(from decoder: any Decoder) throws {
        self = try JSONWebKeyMembers(from: decoder).key()
    }

    /// Encodes the JSON form of RFC 7517, with `kid`, `alg` and `use`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for member in members {
            guard let name = Name(rawValue: member.name) else { continue }
            try container.encode(member.value, forKey: name)
        }
    }

    /// The required members of the key type, from which the thumbprint is computed (RFC 7638 §3.2).
    @_spi(Counterfoil) public var publicMembers: [(name: String, value: String)] { material.members }

    /// All members of the published key, including `kid`, `alg` and `use`.
    @_spi(Counterfoil) public var members: [(name: String, value: String)] {
        material.members + [("kid", id.rawValue), ("alg", algorithm.rawValue), ("use", "sig")]
    }
}
