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
    @Test func `a key of each algorithm is read, also with members that it does not need`() throws {
        for key in try TestAuthenticator.Key.all() {
            #expect(try CredentialPublicKey(coseBytes: key.cose.encoded).algorithm == key.algorithm)
            #expect(fault(key.cose.setting([.unsigned(4): .array([.unsigned(2)])])) == nil)
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
