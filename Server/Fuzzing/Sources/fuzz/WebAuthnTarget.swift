import CounterfoilProtocol
import Crypto
import Foundation

@testable import WebAuthn

/// The responses of passkeys (WebAuthn §5.1), and their parts with a signature by a key of this program.
///
/// The same input is examined as JSON, as CBOR, as the attestation object of a registration, and as the authenticator
/// data and the client data of an authentication. Without the signature, no input would pass its check.
enum WebAuthnTarget {
    private static let relyingParty = RelyingParty(id: "example.org", origins: ["https://example.org"])
    /// The challenge of the seeds.
    private static let challenge =
        Base64URL.decode("OcDnUhQXulTUPo3JUXT0I97pvzzYBP9tZchXyav01Ag").flatMap(Challenge.init) ?? Challenge()
    private static let key = P256.Signing.PrivateKey()
    private static let clientData = Array(
        #"{"type":"webauthn.get","challenge":"\#(Base64URL.encode(challenge.bytes))","origin":"https://example.org"}"#
            .utf8)
    private static let hash = Array(SHA256.hash(data: Array("example.org".utf8)))

    static func examine(_ bytes: [UInt8]) {
        examineJSON(bytes)
        examineCBOR(bytes)
        examineAttestationObject(bytes)
        examineAuthenticatorData(bytes)
        examineClientData(bytes)
    }

    private static func result<Value>(
        _ body: () throws(CeremonyRefusal) -> Value
    ) -> Value? {
        do { return try body() } catch {
            require(isSafeToShow("\(error)"), "a reason that cannot be shown")
            require((3...27).contains(error.step), "step \(error.step)")
            return nil
        }
    }

    private static func examineJSON(_ bytes: [UInt8]) {
        let registration = result { () throws(CeremonyRefusal) in try RegistrationResponse(json: bytes) }
        let authentication = result { () throws(CeremonyRefusal) in try AuthenticationResponse(json: bytes) }
        guard registration != nil || authentication != nil else { return }
        let members = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        require(members?["type"] as? String == "public-key", "JSON that is no credential is accepted")
    }

    /// An item that is accepted has the only encoding of its value, up to the order of keys.
    private static func examineCBOR(_ bytes: [UInt8]) {
        guard let value = try? CBORReader.value(of: bytes) else { return }
        let encoded = encoded(value)
        require(encoded.count == bytes.count, "an item with another encoding is accepted")
        require((try? CBORReader.value(of: encoded)) == value, "not the same once written")
    }

    private static func encoded(_ value: CBORValue) -> [UInt8] {
        func head(_ type: UInt8, _ argument: UInt64) -> [UInt8] {
            if argument < 24 { return [type << 5 | UInt8(argument)] }
            let width = argument <= 0xFF ? 1 : argument <= 0xFFFF ? 2 : argument <= 0xFFFF_FFFF ? 4 : 8
            let information: [Int: UInt8] = [1: 24, 2: 25, 4: 26, 8: 27]
            return [type << 5 | (information[width] ?? 0)]
                + (0..<width).reversed().map { UInt8(truncatingIfNeeded: argument >> UInt64($0 * 8)) }
        }
        switch value {
        case .unsigned(let number): return head(0, number)
        case .negative(let number): return head(1, number)
        case .bytes(let bytes): return head(2, UInt64(bytes.count)) + bytes
        case .text(let text): return head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let values): return head(4, UInt64(values.count)) + values.flatMap(encoded)
        case .map(let members):
            return head(5, UInt64(members.count)) + members.flatMap { encoded($0.key) + encoded($0.value) }
        case .boolean(let value): return [value ? 0xF5 : 0xF4]
        case .null: return [0xF6]
        }
    }

    private static func examineAttestationObject(_ bytes: [UInt8]) {
        guard let object = try? AttestationObject(parsing: bytes),
            let data = try? AuthenticatorData(parsing: object.authenticatorData),
            let id = data.credential?.credentialID
        else { return }
        let clientData = String(decoding: clientData, as: UTF8.self).replacingOccurrences(of: ".get", with: ".create")
        let response = response(
            id, [("clientDataJSON", Array(clientData.utf8)), ("attestationObject", bytes)])
        let ceremony = RegistrationCeremony(
            relyingParty: relyingParty, challenge: challenge, requiresUserVerification: false,
            algorithms: COSEAlgorithm.offered)
        let credential = result { () throws(CeremonyRefusal) in
            try ceremony.verify(try RegistrationResponse(json: response))
        }
        guard let credential else { return }
        require(data.relyingPartyIDHash == hash, "another RP ID is accepted")
        require(data.flags.contains(.userPresent), "an absent user is accepted")
        require(credential.isBackupEligible || !credential.isBackedUp, "BS without BE is accepted")
        let restored = try? CredentialPublicKey(coseBytes: credential.publicKey.coseBytes)
        require(restored?.algorithm == credential.publicKey.algorithm, "a stored key cannot be read")
        // Without a certificate or the private key, no input can have a valid signature.
        switch credential.attestation {
        case .none: require(object.format.rawValue == "none", "a statement is taken for none")
        case .selfSigned, .certificate: require(false, "a signature over another challenge is accepted")
        case .unread(let format): require(!["none", "packed"].contains(format.rawValue), "a statement is not read")
        }
    }

    private static func examineAuthenticatorData(_ bytes: [UInt8]) {
        guard let assertion = assertion(data: bytes, clientData: clientData) else { return }
        require(bytes.starts(with: hash), "another RP ID is accepted")
        let flags = bytes[32]
        require(flags & 0x41 == 0x01, "an absent user or a credential is accepted")
        require(flags & 0x80 != 0 || bytes.count == 37, "more bytes are accepted")
        require(assertion.isUserVerified == (flags & 0x04 != 0), "the flag UV")
        require(assertion.isBackupEligible || !assertion.isBackedUp, "BS without BE is accepted")
    }

    private static func examineClientData(_ bytes: [UInt8]) {
        guard assertion(data: hash + [0x05, 0, 0, 0, 1], clientData: bytes) != nil else { return }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Data(bytes.dropFirst(3)) : Data(bytes)
        guard let members = try? JSONSerialization.jsonObject(with: text) as? [String: Any] else {
            return require(false, "client data that are no JSON object are accepted")
        }
        require(members["type"] as? String == "webauthn.get", "another type is accepted")
        require(members["origin"] as? String == "https://example.org", "another origin is accepted")
        require(members["challenge"] as? String == Base64URL.encode(challenge.bytes), "another challenge is accepted")
        require(members["crossOrigin"] as? Bool != true && members["topOrigin"] == nil, "a frame is accepted")
    }

    /// The result of an authentication whose parts are signed.
    private static func assertion(data: [UInt8], clientData: [UInt8]) -> VerifiedAssertion? {
        let point = Array(key.publicKey.rawRepresentation)
        let cose: [UInt8] =
            [0xA5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32] + point.prefix(32) + [0x22, 0x58, 32] + point.suffix(32)
        guard let publicKey = try? CredentialPublicKey(coseBytes: cose), let id = CredentialID([1]),
            let user = UserHandle([1]),
            let signature = try? key.signature(for: data + SHA256.hash(data: clientData)).derRepresentation
        else { return nil }
        let response = response(
            [1],
            [
                ("clientDataJSON", clientData), ("authenticatorData", data), ("signature", Array(signature)),
                ("userHandle", [1]),
            ])
        let stored = StoredCredential(
            id: id, publicKey: publicKey, signatureCounter: 0, userHandle: user, isBackupEligible: nil)
        let ceremony = AuthenticationCeremony(
            relyingParty: relyingParty, challenge: challenge, requiresUserVerification: false, allowedCredentials: [],
            user: nil)
        return result { () throws(CeremonyRefusal) in
            try ceremony.verify(try AuthenticationResponse(json: response), with: stored)
        }
    }

    private static func response(_ id: [UInt8], _ members: [(String, [UInt8])]) -> [UInt8] {
        let id = Base64URL.encode(id)
        let members = members.map { "\"\($0)\":\"\(Base64URL.encode($1))\"" }.joined(separator: ",")
        return Array(#"{"id":"\#(id)","rawId":"\#(id)","type":"public-key","response":{\#(members)}}"#.utf8)
    }
}
