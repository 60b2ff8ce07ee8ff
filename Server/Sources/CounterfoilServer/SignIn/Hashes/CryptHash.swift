/// A hash of crypt(5) that libxcrypt computes: bcrypt, sha256crypt, sha512crypt, scrypt (`$7$`), yescrypt and
/// gost-yescrypt.
package struct CryptHash: Sendable, Hashable {
    /// The maximum cost of bcrypt, which takes about a second.
    static let bcryptLimit = 14
    /// The maximum number of rounds of sha256crypt and sha512crypt.
    static let roundLimit = 1_000_000

    let text: String

    /// Parses a hash, whose parts are between the characters `$`.
    init(_ text: String, _ parts: [Substring]) throws(HashForm.Refusal) {
        self.text = text
        guard parts[0].isEmpty else { throw .unknown }
        switch parts[1] {
        case "5": try Self.checkSHA(parts, length: 43)
        case "6": try Self.checkSHA(parts, length: 86)
        case "7": try Self.checkScrypt(parts)
        case "y", "gy": try Self.checkYescrypt(parts)
        default: try Self.checkBcrypt(parts)
        }
        guard CryptLibrary.system?.supports(text) == true else {
            throw .notSupported(Self.names["\(parts[1])"] ?? "bcrypt")
        }
    }

    private static let names = [
        "5": "sha256crypt", "6": "sha512crypt", "7": "scrypt in the form $7$", "y": "yescrypt", "gy": "gost-yescrypt",
    ]

    /// Returns the hash of a password with the same setting; nil if it cannot be computed.
    func computed(of password: String) -> String? { CryptLibrary.system?.hash(of: password, setting: text) }

    /// The digits of base64 in crypt(5), in the order of their values.
    private static let digits = Array("./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    private static func values(_ text: some StringProtocol) -> [Int]? {
        let values = text.utf8.compactMap { digits.firstIndex(of: $0) }
        return values.count == text.utf8.count ? values : nil
    }

    // $2b$12$, 22 characters of the salt and 31 of the digest
    private static func checkBcrypt(_ parts: [Substring]) throws(HashForm.Refusal) {
        guard parts.count == 4, parts[2].utf8.count == 2,
            let cost = HashForm.number(parts[2].first == "0" ? parts[2].dropFirst() : parts[2]), cost >= 4,
            parts[3].utf8.count == 53, values(parts[3]) != nil
        else { throw .malformed("$2b$cost$, with 53 characters after it, of bcrypt") }
        guard cost <= bcryptLimit else { throw .limit("the cost of bcrypt is at most \(bcryptLimit)") }
    }

    // $6$salt$hash or $6$rounds=5000$salt$hash
    private static func checkSHA(_ parts: [Substring], length: Int) throws(HashForm.Refusal) {
        let hasRounds = parts.count == 5
        let rounds = hasRounds ? HashForm.numbers(["rounds"], in: parts[2])?.first : 5000
        guard hasRounds || parts.count == 4, let rounds, rounds >= 1000, parts[parts.count - 2].utf8.count <= 16,
            parts[parts.count - 2].utf8.allSatisfy({ !Array("!*:\\".utf8).contains($0) }),
            parts[parts.count - 1].utf8.count == length, values(parts[parts.count - 1]) != nil
        else { throw .malformed("$\(parts[1])$rounds=…$salt$hash of crypt(5)") }
        guard rounds <= roundLimit else {
            throw .limit("sha256crypt and sha512crypt have at most \(roundLimit) rounds")
        }
    }

    // $7$, one digit for the logarithm of N, five each for r and p, the salt, $ and the digest
    private static func checkScrypt(_ parts: [Substring]) throws(HashForm.Refusal) {
        guard parts.count == 4, parts[2].utf8.count <= 11 + 43, let numbers = values(parts[2].prefix(11)),
            numbers.count == 11, parts[2].utf8.dropFirst(11).count >= 1, values(parts[2].dropFirst(11)) != nil,
            parts[3].utf8.count == 43, values(parts[3]) != nil
        else { throw .malformed("$7$…$hash of crypt(5)") }
        func number(_ digits: ArraySlice<Int>) -> Int { digits.reversed().reduce(0) { $0 << 6 | $1 } }
        let (blockSize, lanes) = (number(numbers[1..<6]), number(numbers[6..<11]))
        guard blockSize >= 1, lanes >= 1, numbers[0] >= 1 else { throw .malformed("$7$…$hash of crypt(5)") }
        try ScryptHash.check(logarithm: numbers[0], blockSize: blockSize, lanes: lanes)
    }

    // $y$, j, one digit for the logarithm of N, one for r, $, the salt, $ and the digest
    private static func checkYescrypt(_ parts: [Substring]) throws(HashForm.Refusal) {
        // `j` is the flavour that every program uses. Digits from 48 on begin a number of several digits.
        guard parts.count == 5, parts[2].first == "j", let numbers = values(parts[2].dropFirst()), numbers.count == 2,
            numbers.allSatisfy({ $0 < 48 }), (1...86).contains(parts[3].utf8.count), values(parts[3]) != nil,
            parts[4].utf8.count == 43, values(parts[4]) != nil
        else { throw .malformed("$\(parts[1])$j…$salt$hash of crypt(5), without further parameters") }
        try ScryptHash.check(logarithm: numbers[0] + 1, blockSize: numbers[1] + 1, lanes: 1)
    }
}
