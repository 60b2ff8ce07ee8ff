import Crypto

/// A key whose signatures are written in forms that no authenticator uses.
struct P256Signature {
    let key = P256.Signing.PrivateKey()

    func forms(of authenticator: TestAuthenticator) throws -> [[UInt8]] {
        let signed =
            authenticator.authenticatorData() + SHA256.hash(data: authenticator.clientData("webauthn.get"))
        let signature = try key.signature(for: signed)
        let der = Array(signature.derRepresentation)
        let longLength = [0x30, 0x81, der[1]] + der.dropFirst(2)
        return [
            Array(signature.rawRepresentation), der + [0], Array(der.dropLast()), longLength, der + der,
            [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00], [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01], [0],
        ]
    }
}
