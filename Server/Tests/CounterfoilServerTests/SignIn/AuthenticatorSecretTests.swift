@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import Foundation
import Testing

/// The codes of an authenticator app, and the secret that it has.
struct AuthenticatorSecretTests {
    private static func secret() throws -> AuthenticatorSecret {
        try #require(AuthenticatorSecret(bytes: Array("12345678901234567890".utf8)))
    }

    // RFC 6238 appendix B, SHA-1
    @Test(arguments: [
        (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
        (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
    ])
    func `the codes are those of the standard`(time: Int, code: String) throws {
        let secret = try Self.secret()
        let step = AuthenticatorSecret.step(at: Date(timeIntervalSince1970: TimeInterval(time)))
        #expect(secret.code(at: step, digits: 8) == code)
        #expect(secret.code(at: step) == code.suffix(6))
    }

    // RFC 4226 appendix D
    @Test func `the first counters give the codes of the standard`() throws {
        let secret = try Self.secret()
        let codes = (0..<10).map { secret.code(at: $0) }
        #expect(
            codes == [
                "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
            ])
    }

    // RFC 6238 §5.2: one step for the time on the way, and each code once.
    @Test func `a code counts for its step and the two beside it, and once`() throws {
        let secret = try Self.secret()
        let now = Date(timeIntervalSince1970: 1_800_000_015)
        let step = AuthenticatorSecret.step(at: now)
        for (offset, isRight) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] as [(Int64, Bool)] {
            let verdict = secret.judge(secret.code(at: step + offset), after: 0, at: now)
            #expect(verdict == (isRight ? .right(step: step + offset) : .wrong))
        }
        #expect(secret.judge(secret.code(at: step), after: step, at: now) == .used)
        #expect(secret.judge(secret.code(at: step - 1), after: step, at: now) == .used)
        #expect(secret.judge(secret.code(at: step + 1), after: step, at: now) == .right(step: step + 1))
    }

    @Test func `the secret is in base32, and is never printed`() throws {
        let secret = try Self.secret()
        #expect(secret.exposed == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
        #expect("\(secret)" == "<AuthenticatorSecret redacted>")
        #expect(AuthenticatorSecret(bytes: [1, 2, 3]) == nil)
        #expect(AuthenticatorSecret().exposed != AuthenticatorSecret().exposed)
    }

    @Test func `the URI names the server and the user, whatever their names are`() throws {
        let secret = try Self.secret()
        let uri = secret.uri(issuer: "Fotos & Mehr: Köln", name: "alice")
        let issuer = "Fotos%20%26%20Mehr%20%20K%C3%B6ln"
        #expect(uri == "otpauth://totp/\(issuer):alice?secret=\(secret.exposed)&issuer=\(issuer)")
    }

    @Test(arguments: [
        ("123456", true), (" 123 456 ", true), ("12345", false), ("１２３４５６", false), ("abcde-fghij", false),
    ])
    func `six digits are a code of the app, and anything else is a recovery code`(typed: String, isCode: Bool) {
        switch SecondFactorAnswer(typed: typed) {
        case .code(let code): #expect(isCode && code == "123456")
        case .recoveryCode: #expect(!isCode)
        case .key: Issue.record("no one types a key")
        }
    }

    @Test func `a recovery code is read whatever its case, spaces and hyphens are`() throws {
        let (secret, other) = (AuthenticatorSecret(), AuthenticatorSecret())
        let code = RecoveryCode(random: RandomBytes())
        let letters = code.exposed
        #expect(letters.count == 17 && "\(code)" == "<RecoveryCode redacted>")
        for typed in [letters, letters.uppercased(), letters.replacing("-", with: ""), " \(letters) "] {
            guard case .recoveryCode(let read) = SecondFactorAnswer(typed: typed) else {
                Issue.record("\(typed) is a recovery code")
                continue
            }
            #expect(read.digest(with: secret) == code.digest(with: secret))
            #expect(read.digest(with: secret) != code.digest(with: other))
        }
    }

    // 160 and 75 bits: each letter of base32 has five.
    @Test func `secrets and recovery codes are made of random bytes alone`() {
        let random = RandomBytes { count in (0..<count).map { UInt8($0 * 37 % 256) } }
        #expect(AuthenticatorSecret(random: random).bytes == random.bytes(20))
        #expect(RecoveryCode(random: random).exposed == "aasuu-34uxh-pagkc")
        #expect(AuthenticatorSecret().bytes != AuthenticatorSecret().bytes)
        #expect(RecoveryCode(random: RandomBytes()).exposed != RecoveryCode(random: RandomBytes()).exposed)
    }
}
