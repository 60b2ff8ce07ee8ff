@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilStore
import Crypto
package import Foundation

/// The secret of a second factor: the key from which an authenticator app computes its codes (RFC 6238).
///
/// The codes have six digits and change every 30 seconds, with HMAC-SHA-1, because many apps know nothing else. The
/// collisions of SHA-1 do not affect HMAC (RFC 6238 §1.2).
package struct AuthenticatorSecret: Secret {
    /// The length in bytes, that of the output of SHA-1 (RFC 4226 §4).
    static let byteCount = 20
    /// The length of a time step in seconds (RFC 6238 §5.2).
    static let stepLength: TimeInterval = 30
    /// The number of steps by which the clock of the app can differ from that of the server (RFC 6238 §6).
    static let tolerance: Int64 = 1

    package let bytes: [UInt8]

    package init(random: RandomBytes = RandomBytes()) { bytes = random.bytes(Self.byteCount) }

    /// Restores a secret; nil unless it has ``byteCount`` bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The secret in base32 (RFC 4648 §6), as people type it into an app.
    package var exposed: String { Base32.encode(bytes) }

    /// The digest that names the second factor with this secret.
    package var digest: ArtefactDigest { ArtefactDigest(ofSecondFactor: bytes) }

    /// Returns the time step of a time.
    package static func step(at time: Date) -> Int64 { Int64((time.timeIntervalSince1970 / stepLength).rounded(.down)) }

    /// Returns the code of a time step (RFC 4226 §5.3).
    package func code(at step: Int64, digits: Int = 6) -> String {
        let mac = HMAC<Insecure.SHA1>.authenticationCode(
            for: withUnsafeBytes(of: step.bigEndian) { Array($0) }, using: SymmetricKey(data: bytes)
        ).copiedBytes
        let offset = Int(mac[mac.count - 1] & 0xF)
        let number = mac[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let text = String(UInt64(number) % UInt64(repeatElement(10, count: digits).reduce(1, *)))
        return String(repeating: "0", count: digits - text.count) + text
    }

    /// The verdict on a typed code.
    package enum Verdict: Sendable, Hashable {
        /// The code is that of this time step, which was not used yet.
        case right(step: Int64)
        /// The code is that of a time step from which a code was accepted already, or of an earlier one.
        case used
        case wrong
    }

    /// Judges a code of six digits.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - last: The time step of the last accepted code (RFC 6238 §5.2).
    ///   - now: The time of the wall clock.
    package func judge(_ code: String, after last: Int64, at now: Date) -> Verdict {
        let present = Self.step(at: now)
        let steps = (present - Self.tolerance...present + Self.tolerance).filter { step in
            ConstantTime.equals(self.code(at: step), code)
        }
        guard !steps.isEmpty else { return .wrong }
        return steps.first { $0 > last }.map { .right(step: $0) } ?? .used
    }

    /// Returns the URI from which an app reads the secret, as a QR code or a link.
    package func uri(issuer: String, name: String) -> String {
        // A colon separates the two.
        let issuer = Self.encoded(issuer.replacing(":", with: " "))
        return "otpauth://totp/\(issuer):\(Self.encoded(name))?secret=\(exposed)&issuer=\(issuer)"
    }

    /// Percent-encodes everything but unreserved characters (RFC 3986 §2.3).
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}

/// The encoding of bytes with the letters A to Z and the digits 2 to 7 (RFC 4648 §6), without padding.
enum Base32 {
    static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var (text, bits, count) = ("", UInt32(0), 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> UInt32(count) & 31)])
            }
            bits &= (1 << UInt32(count)) - 1
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count) & 31)]) }
        return text
    }
}
