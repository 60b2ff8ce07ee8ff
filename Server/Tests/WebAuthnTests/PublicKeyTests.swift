import Crypto
import CryptoExtras
import Testing
import WebAuthn

/// The keys of credentials (WebAuthn §5.8.5, §6.5.1, RFC 9053 §7, RFC 8230 §4).
struct PublicKeyTests {
    private func fault(_ key: CBORValue) -> CredentialPublicKey.Fault? { fault(key.encoded) }

    private func fault(_ bytes: [UInt8]) -> CredentialPublicKey.Fault? {
        do {
            _ = try CredentialPublicKey(coseBytes: bytes)
            return nil
        } catch { return error }
    }

    // WebAuthn §5.8.5.
    @Test func `a key of each algorithm is read`() throws {
        for key in try TestAuthenticator.Key.all() {
            #expect(try CredentialPublicKey(coseBytes: key.cose.encoded).algorithm == key.algorithm)
        }
    }

    // WebAuthn §6.5.1: the key MUST NOT contain other optional parameters.
    @Test func `a key with a member that it does not need is refused`() throws {
        for key in try TestAuthenticator.Key.all() {
            // `kid`, `key_ops`, an unassigned label, and the private key.
            let members: [(CBORValue, CBORValue)] = [
                (.unsigned(2), .bytes([1])), (.unsigned(4), .array([.unsigned(2)])), (.text("a"), .null),
                (.integer(-4), .bytes([1])),
            ]
            for (label, value) in members { #expect(fault(key.cose.setting([label: value])) == .unusable) }
        }
    }

    // RFC 9053 §7.1, §7.2, WebAuthn §5.8.5.
    @Test func `a key whose type, curve or coordinates do not fit its algorithm is refused`() throws {
        let keys = try TestAuthenticator.Key.all()
        for key in keys {
            for other in keys where other.algorithm != key.algorithm {
                // The algorithm of another key.
                let changed = key.cose.setting([.unsigned(3): .integer(Int(other.algorithm.rawValue))])
                #expect(fault(changed) == .unusable, "\(key.algorithm) as \(other.algorithm)")
            }
            for label in [-1, -2] {
                #expect(fault(key.cose.setting([.integer(label): nil])) == .unusable)
                #expect(fault(key.cose.setting([.integer(label): .null])) == .unusable)
            }
            #expect(fault(key.cose.setting([.unsigned(1): .unsigned(4)])) == .unusable)
        }
        let key = TestAuthenticator.Key.es256(.init()).cose
        // The compressed form of a point.
        #expect(fault(key.setting([.integer(-3): .boolean(true)])) == .unusable)
        #expect(fault(key.setting([.integer(-1): .unsigned(2)])) == .unusable)
        #expect(fault(key.setting([.integer(-2): .bytes(Array(repeating: 1, count: 31))])) == .unusable)
        #expect(fault(key.setting([.integer(-2): .bytes(Array(repeating: 1, count: 33))])) == .unusable)
    }

    // WebAuthn §5.8.5: the point is on the curve.
    @Test func `a point that is not on its curve is refused`() throws {
        for (key, size) in [(try TestAuthenticator.Key.all()[0], 32), (try TestAuthenticator.Key.all()[1], 48)] {
            let zeros: CBORValue = .bytes(Array(repeating: 0, count: size))
            #expect(fault(key.cose.setting([.integer(-2): zeros, .integer(-3): zeros])) == .unusable)
            #expect(fault(key.cose.setting([.integer(-3): .bytes(Array(repeating: 1, count: size))])) == .unusable)
            #expect(fault(key.cose.setting([.integer(-2): .bytes(Array(repeating: 0xFF, count: size))])) == .unusable)
        }
    }

    // RFC 8032 §5.1.3, §5.1.7: the points whose order divides 8, with both signs of x.
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
    func `an Ed25519 key of small order is refused`(digits: String) throws {
        let key = TestAuthenticator.Key.edDSA(.init()).cose
        var point = [UInt8](hexadecimal: digits)
        #expect(point.count == 32)
        for sign: UInt8 in [0x00, 0x80] {
            point[31] = point[31] & 0x7F | sign
            #expect(fault(key.setting([.integer(-2): .bytes(point)])) == .unusable)
        }
        // A neighbour.
        point[1] ^= 1
        #expect(fault(key.setting([.integer(-2): .bytes(point)])) == nil)
    }

    // RFC 8230 §4.
    @Test func `an RSA key that is too short or has a bad exponent is refused`() throws {
        let key = try #require(try TestAuthenticator.Key.all().last).cose
        let modulus: CBORValue = .bytes([0xC1] + Array(repeating: 0x11, count: 126) + [0x01])
        #expect(fault(key.setting([.integer(-1): modulus])) == .unusable)
        #expect(fault(key.setting([.integer(-1): .bytes([])])) == .unusable)
        let long: CBORValue = .bytes([0xC1] + Array(repeating: 0x11, count: 1024))
        #expect(fault(key.setting([.integer(-1): long])) == .unusable)
        for exponent: [UInt8] in [[], [0], [1], [2], [0, 3], [0x01, 0x00, 0x00], [1, 0, 0, 0, 1]] {
            #expect(fault(key.setting([.integer(-2): .bytes(exponent)])) == .unusable, "\(exponent)")
        }
    }

    // RFC 9052 §7.
    @Test func `a key without type or algorithm, or of an unknown algorithm, is refused`() {
        let key = TestAuthenticator.Key.es256(.init()).cose
        #expect(fault(key.setting([.unsigned(1): nil])) == .malformed)
        #expect(fault(key.setting([.unsigned(3): nil])) == .malformed)
        #expect(fault(key.setting([.unsigned(3): .text("ES256")])) == .malformed)
        #expect(fault(key.setting([.unsigned(3): .negative(.max)])) == .malformed)
        for algorithm in [-9, -37, -47, -53, -65535, 0, 7] {
            #expect(fault(key.setting([.unsigned(3): .integer(algorithm)])) == .unsupportedAlgorithm)
        }
        #expect(fault([]) == .malformed)
        #expect(fault([0x80]) == .malformed)
        #expect(fault(key.encoded + [0]) == .malformed)
    }
}
