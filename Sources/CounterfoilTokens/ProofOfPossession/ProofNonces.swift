public import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
public import Crypto

/// The nonces of a server for DPoP proofs, which are computed from a key and the time and stored nowhere.
///
/// RFC 9449 §8 and §9. A nonce is the time at which it was made, in steps of 30 seconds, and a message authentication
/// code over this time. Every server with the same key accepts it for at least four and a half minutes.
@_spi(Counterfoil) public struct ProofNonces: Sendable {
    /// The time for which a nonce is accepted, in seconds from the start of its step.
    public static let lifetime: TimeInterval = 300
    /// The length of the steps in which nonces change, in seconds.
    private static let step: TimeInterval = 30
    /// The number of bytes of the message authentication code in a nonce.
    private static let codeSize = 16
    private static let timeSize = 8

    /// The states of the current key, which makes nonces, and of former ones.
    private let keyed: [HMAC<SHA256>]
    private let recent = Recent()

    /// Creates the nonces of a key that is used for nothing else.
    public init(key: SymmetricKey) { self.init(keys: [key]) }

    /// Creates the nonces of the first key; those of the other ones are accepted, too.
    public init(keys: [SymmetricKey]) { keyed = keys.map { HMAC(key: $0) } }

    /// Returns the nonce of a time, which servers send in the field `DPoP-Nonce`.
    public func nonce(at now: Date) -> String {
        let step = UInt64(max(0, now.timeIntervalSince1970 / Self.step))
        if let nonce = recent.nonces.withLock({ $0.last }), nonce.step == step { return nonce.text }
        let time = withUnsafeBytes(of: step.bigEndian) { Array($0) }
        let nonce = Nonce(
            step: step, text: Base64URL.encode(time + (keyed.first.map { Self.code(for: time, $0) } ?? [])))
        recent.nonces.withLock { nonces in
            // A few, because clients also send the nonces of the steps before.
            nonces.removeFirst(max(0, nonces.count - 3))
            nonces.append(nonce)
        }
        return nonce.text
    }

    /// Returns true if a nonce was made with this key within its lifetime.
    func accept(_ text: String, at now: Date) -> Bool {
        guard let step = step(of: text) else { return false }
        let age = now.timeIntervalSince1970 - TimeInterval(step) * Self.step
        // The clock of another server that made the nonce may be ahead.
        return (-Self.step...Self.lifetime).contains(age)
    }

    /// Returns the step in which a nonce was made; nil if it was not made with this key.
    private func step(of text: String) -> UInt64? {
        guard text.utf8.count <= 64 else { return nil }
        let recent = recent.nonces.withLock { $0 }
        if let nonce = recent.last(where: { ConstantTime.equals($0.text, text) }) { return nonce.step }
        guard let bytes = Base64URL.decode(text), bytes.count == Self.timeSize + Self.codeSize else { return nil }
        let time = Array(bytes.prefix(Self.timeSize))
        let code = Array(bytes.dropFirst(Self.timeSize))
        guard keyed.contains(where: { ConstantTime.equals(code, Self.code(for: time, $0)) }) else { return nil }
        return time.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    private static func code(for time: [UInt8], _ keyed: HMAC<SHA256>) -> [UInt8] {
        var code = keyed
        code.update(data: time)
        return Array(code.finalize().copiedBytes.prefix(codeSize))
    }

    private struct Nonce {
        let step: UInt64
        let text: String
    }

    /// The nonces that were made last, so that most requests compute no code; the oldest is the first.
    private final class Recent: Sendable {
        let nonces = Mutex<[Nonce]>([])
    }
}
