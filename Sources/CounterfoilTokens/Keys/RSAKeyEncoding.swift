/// The encodings of RSA keys in DER: PKCS #1 (RFC 8017 appendix A.1) and, for private keys, PKCS #8 (RFC 5208 §5).
///
/// Apple's Security framework accepts PKCS #1 only.
@_spi(Counterfoil) public enum RSAKeyEncoding {
    /// Encodes the two numbers of a public key, which are unsigned and in network byte order (`RSAPublicKey`).
    static func publicKey(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        element(.sequence, integer(modulus) + integer(exponent))
    }

    /// Encodes the eight numbers of a private key, which are unsigned and in network byte order (`RSAPrivateKey`).
    public static func privateKey(numbers: [[UInt8]]) -> [UInt8] {
        // The version of a key with two primes is 0.
        element(.sequence, integer([0]) + numbers.flatMap(integer))
    }

    /// Returns the modulus and the exponent of a public key (`RSAPublicKey`); nil if the bytes are malformed.
    static func numbers(ofPublicKey bytes: [UInt8]) -> (modulus: [UInt8], exponent: [UInt8])? {
        var outer = Reader(rest: bytes[...])
        guard var key = outer.read(.sequence).map(Reader.init), outer.rest.isEmpty,
            let modulus = key.read(.integer), let exponent = key.read(.integer), key.rest.isEmpty
        else { return nil }
        return (Array(modulus.drop { $0 == 0 }), Array(exponent.drop { $0 == 0 }))
    }

    /// Returns the PKCS #1 encoding of a private key that is encoded as PKCS #1 or PKCS #8.
    ///
    /// Returns nil if the bytes are malformed or belong to a key of another algorithm. The numbers are not checked.
    static func privateKey(in bytes: [UInt8]) -> [UInt8]? {
        var outer = Reader(rest: bytes[...])
        guard var key = outer.read(.sequence).map(Reader.init), outer.rest.isEmpty,
            let version = key.read(.integer), version.elementsEqual([0])
        else { return nil }
        // PKCS #8 continues with the algorithm, PKCS #1 with the modulus.
        guard var algorithm = key.read(.sequence).map(Reader.init) else { return bytes }
        guard algorithm.read(.objectIdentifier)?.elementsEqual(rsaEncryption) == true else { return nil }
        return key.read(.octetString).map(Array.init)
    }

    /// 1.2.840.113549.1.1.1 (RFC 8017 appendix A.1).
    private static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]

    private enum Tag: UInt8 {
        case integer = 0x02
        case octetString = 0x04
        case objectIdentifier = 0x06
        case sequence = 0x30
    }

    private static func integer(_ number: [UInt8]) -> [UInt8] {
        let digits = Array(number.drop { $0 == 0 })
        // DER integers are signed. A first byte above 0x7F would make the number negative.
        return element(.integer, (digits.first ?? 0x80) & 0x80 == 0 ? digits : [0] + digits)
    }

    private static func element(_ tag: Tag, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag.rawValue, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag.rawValue, 0x80 | UInt8(length.count)] + length + content
    }

    /// A reader of consecutive elements.
    private struct Reader {
        var rest: ArraySlice<UInt8>

        /// Reads the next element; returns nil, and reads nothing, if it has another tag or is incomplete.
        mutating func read(_ tag: Tag) -> ArraySlice<UInt8>? {
            var bytes = rest
            guard bytes.popFirst() == tag.rawValue, let first = bytes.popFirst() else { return nil }
            var length = Int(first)
            if first >= 0x80 {
                let count = Int(first & 0x7F)
                guard (1...3).contains(count), bytes.count >= count else { return nil }
                length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
                bytes = bytes.dropFirst(count)
            }
            guard bytes.count >= length else { return nil }
            rest = bytes.dropFirst(length)
            return bytes.prefix(length)
        }
    }
}
