/// Random text for states, nonces and verifiers.
enum Random {
    static func text(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        while bytes.count < count {
            withUnsafeBytes(of: generator.next() as UInt64) { bytes += $0 }
        }
        return Base64URL.encode(Array(bytes[..<count]))
    }
}

/// Base64url without padding, RFC 4648 §5.
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var value: UInt32 = 0
            for byte in group { value = value << 8 | UInt32(byte) }
            value <<= UInt32(3 - group.count) * 8
            for position in 0...group.count {
                text.append(alphabet[Int(value >> UInt32(18 - 6 * position) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
