@_spi(Counterfoil) import CounterfoilProtocol
import Crypto
import CryptoExtras
import Foundation
import WebAuthn

/// An authenticator and a browser in one, whose responses tests can falsify.
struct TestAuthenticator {
    enum Key {
        case es256(P256.Signing.PrivateKey)
        case es384(P384.Signing.PrivateKey)
        case es512(P521.Signing.PrivateKey)
        case edDSA(Curve25519.Signing.PrivateKey)
        case rs256(_RSA.Signing.PrivateKey)
    }

    static let relyingParty = RelyingParty(id: "id.example.com", origins: ["https://id.example.com"])
    static let user = UserHandle(Array("user-1".utf8)).unwrapped
    static let other = UserHandle(Array("user-2".utf8)).unwrapped
    static let challenge = Challenge(Array(0..<32)).unwrapped

    var key = Key.es256(P256.Signing.PrivateKey())
    var credentialID: [UInt8] = Array(repeating: 7, count: 32)
    var aaguid: [UInt8] = Array(repeating: 0, count: 16)
    /// UP, UV, BE and BS.
    var flags: UInt8 = 0x1D
    var counter: UInt32 = 0
    var relyingPartyID = "id.example.com"
    var challenge = Self.challenge.bytes
    var origin = "https://id.example.com"
    /// More members of the client data.
    var clientDataMembers = #","crossOrigin":false"#
    var type: String?
    /// Bytes behind the authenticator data.
    var rest: [UInt8] = []
    var userHandle: UserHandle? = Self.user

    init(_ key: Key? = nil) {
        if let key { self.key = key }
    }

    func clientData(_ usual: String) -> [UInt8] {
        let challenge = Base64URL.encode(challenge)
        return Array(
            #"{"type":"\#(type ?? usual)","challenge":"\#(challenge)","origin":"\#(origin)"\#(clientDataMembers)}"#.utf8
        )
    }

    func authenticatorData(with attested: [UInt8]? = nil, extensions: Bool = false) -> [UInt8] {
        let flags = flags | (attested == nil ? 0 : 0x40) | (extensions ? 0x80 : 0)
        let shifts: [UInt32] = [24, 16, 8, 0]
        let count = shifts.map { UInt8(truncatingIfNeeded: counter >> $0) }
        return Array(SHA256.hash(data: Array(relyingPartyID.utf8))) + [flags] + count + (attested ?? []) + rest
    }

    func attestedCredentialData(key cose: [UInt8]? = nil) -> [UInt8] {
        let length = [UInt8(credentialID.count >> 8), UInt8(credentialID.count & 0xFF)]
        return aaguid + length + credentialID + (cose ?? coseKey.encoded)
    }

    func registration(
        _ format: String = "none", data: [UInt8]? = nil,
        statement: (_ signed: [UInt8]) throws -> CBORValue = { _ in .map([:]) }
    ) throws -> RegistrationResponse {
        let clientData = clientData("webauthn.create")
        let data = data ?? authenticatorData(with: attestedCredentialData())
        let object: CBORValue = .map([
            .text("fmt"): .text(format), .text("attStmt"): try statement(data + SHA256.hash(data: clientData)),
            .text("authData"): .bytes(data),
        ])
        return try Self.registration(clientData: clientData, object: object.encoded, id: credentialID)
    }

    static func registration(clientData: [UInt8], object: [UInt8], id: [UInt8]) throws -> RegistrationResponse {
        let id = Base64URL.encode(id)
        return try RegistrationResponse(
            json: Array(
                """
                {"id":"\(id)","rawId":"\(id)","type":"public-key","clientExtensionResults":{},
                "response":{"clientDataJSON":"\(Base64URL.encode(clientData))","transports":["internal","hybrid"],
                "attestationObject":"\(Base64URL.encode(object))"}}
                """.utf8))
    }

    func assertion(data: [UInt8]? = nil, signedBy signer: Key? = nil) throws -> AuthenticationResponse {
        let clientData = clientData("webauthn.get")
        let data = data ?? authenticatorData()
        let signature = try (signer ?? key).signature(for: data + SHA256.hash(data: clientData))
        return try Self.assertion(
            clientData: clientData, data: data, signature: signature, id: credentialID, userHandle: userHandle)
    }

    static func assertion(
        clientData: [UInt8], data: [UInt8], signature: [UInt8], id: [UInt8], userHandle: UserHandle?
    ) throws -> AuthenticationResponse {
        let id = Base64URL.encode(id)
        let handle = userHandle.map { "\"\(Base64URL.encode($0.bytes))\"" } ?? "null"
        return try AuthenticationResponse(
            json: Array(
                """
                {"id":"\(id)","rawId":"\(id)","type":"public-key","clientExtensionResults":{},
                "response":{"clientDataJSON":"\(Base64URL.encode(clientData))","userHandle":\(handle),
                "authenticatorData":"\(Base64URL.encode(data))","signature":"\(Base64URL.encode(signature))"}}
                """.utf8))
    }

    /// The credential as a server has stored it.
    func stored(counter: UInt32 = 0, isBackupEligible: Bool? = nil) throws -> StoredCredential {
        StoredCredential(
            id: CredentialID(credentialID).unwrapped, publicKey: try CredentialPublicKey(coseBytes: coseKey.encoded),
            signatureCounter: counter, userHandle: Self.user, isBackupEligible: isBackupEligible)
    }

    var coseKey: CBORValue { key.cose }
}

extension TestAuthenticator.Key {
    /// One key of each algorithm.
    static func all() throws -> [Self] {
        [
            .es256(.init()), .es384(.init()), .es512(.init()), .edDSA(.init()),
            .rs256(try _RSA.Signing.PrivateKey(keySize: .bits2048)),
        ]
    }

    var algorithm: COSEAlgorithm {
        switch self {
        case .es256: .es256
        case .es384: .es384
        case .es512: .es512
        case .edDSA: .edDSA
        case .rs256: .rs256
        }
    }

    func signature(for bytes: [UInt8]) throws -> [UInt8] {
        switch self {
        case .es256(let key): Array(try key.signature(for: bytes).derRepresentation)
        case .es384(let key): Array(try key.signature(for: bytes).derRepresentation)
        case .es512(let key): Array(try key.signature(for: bytes).derRepresentation)
        case .edDSA(let key): Array(try key.signature(for: bytes))
        case .rs256(let key):
            Array(
                try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        }
    }

    var cose: CBORValue {
        func point(_ curve: Int, _ bytes: Data) -> CBORValue {
            let half = bytes.count / 2
            return .map([
                .unsigned(1): .unsigned(2), .unsigned(3): .integer(Int(algorithm.rawValue)),
                .integer(-1): .integer(curve), .integer(-2): .bytes(Array(bytes.prefix(half))),
                .integer(-3): .bytes(Array(bytes.suffix(half))),
            ])
        }
        switch self {
        case .es256(let key): return point(1, key.publicKey.rawRepresentation)
        case .es384(let key): return point(2, key.publicKey.rawRepresentation)
        case .es512(let key): return point(3, key.publicKey.rawRepresentation)
        case .edDSA(let key):
            return .map([
                .unsigned(1): .unsigned(1), .unsigned(3): .integer(-8), .integer(-1): .integer(6),
                .integer(-2): .bytes(Array(key.publicKey.rawRepresentation)),
            ])
        case .rs256(let key):
            let numbers = try? key.publicKey.getKeyPrimitives()
            return .map([
                .unsigned(1): .unsigned(3), .unsigned(3): .integer(-257),
                .integer(-1): .bytes(Array(numbers?.modulus ?? Data())),
                .integer(-2): .bytes(Array(numbers?.publicExponent ?? Data())),
            ])
        }
    }
}

extension CBORValue {
    static func integer(_ value: Int) -> CBORValue {
        value < 0 ? .negative(UInt64(-1 - value)) : .unsigned(UInt64(value))
    }

    /// The CTAP2 canonical CBOR encoding.
    var encoded: [UInt8] {
        func head(_ type: UInt8, _ argument: UInt64) -> [UInt8] {
            let width = argument < 24 ? 0 : argument <= 0xFF ? 1 : argument <= 0xFFFF ? 2 : argument >> 32 == 0 ? 4 : 8
            guard width > 0 else { return [type << 5 | UInt8(argument)] }
            let information: UInt8 = [1: 24, 2: 25, 4: 26][width] ?? 27
            return [type << 5 | information]
                + (0..<width).reversed().map { UInt8(truncatingIfNeeded: argument >> UInt64($0 * 8)) }
        }
        switch self {
        case .unsigned(let value): return head(0, value)
        case .negative(let value): return head(1, value)
        case .bytes(let bytes): return head(2, UInt64(bytes.count)) + bytes
        case .text(let text): return head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let values): return head(4, UInt64(values.count)) + values.flatMap(\.encoded)
        case .map(let members):
            let sorted = members.map { ($0.key.encoded, $0.value.encoded) }.sorted { left, right in
                left.0.count == right.0.count ? left.0.lexicographicallyPrecedes(right.0) : left.0.count < right.0.count
            }
            return head(5, UInt64(members.count)) + sorted.flatMap { $0.0 + $0.1 }
        case .boolean(let value): return [value ? 0xF5 : 0xF4]
        case .null: return [0xF6]
        }
    }

    /// The value with some members of its map changed; nil removes a member.
    func setting(_ changes: [CBORValue: CBORValue?]) -> CBORValue {
        guard case .map(var members) = self else { return self }
        for (key, value) in changes { members[key] = value }
        return .map(members)
    }
}

extension [UInt8] {
    /// The bytes of an even number of hexadecimal digits.
    init(hexadecimal text: String) {
        let digits = Array<UInt8>(text.utf8)
        self = stride(from: 0, to: digits.count, by: 2).map { index in
            UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16).unwrapped
        }
    }
}

extension Optional {
    /// The value of a test that cannot be missing.
    var unwrapped: Wrapped {
        guard let self else { preconditionFailure("a value of the test is missing") }
        return self
    }
}

/// Runs a ceremony, and returns what it refused; nil if it refused nothing.
func refusal<Value>(of ceremony: () throws -> Value) -> CeremonyRefusal? {
    do {
        _ = try ceremony()
        return nil
    } catch { return error as? CeremonyRefusal }
}
