@_spi(Counterfoil) package import CounterfoilProtocol

/// A `user_code`: the eight letters that a device shows and a user types (RFC 8628 §6.1).
///
/// Each letter is one of 20, so that there are 25.6 billion codes. No code contains a vowel, so none is a word.
package struct UserCode: Sendable, Hashable, CustomStringConvertible {
    /// The letters of all codes (RFC 8628 §6.1).
    package static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    /// The number of letters in a code.
    package static let length = 8

    /// The eight letters in upper case, without the dash.
    package let letters: String

    /// Creates the code with eight letters of the alphabet.
    package init(letters: String) { self.letters = letters }

    /// Creates a random code.
    package init(random: RandomBytes = RandomBytes()) {
        var letters: [UInt8] = []
        while letters.count < Self.length {
            // A byte of 240 or more is skipped, so that all letters have the same probability.
            for byte in random.bytes(Self.length) where byte < 240 && letters.count < Self.length {
                letters.append(Self.alphabet[Int(byte) % Self.alphabet.count])
            }
        }
        self.letters = String(decoding: letters, as: UTF8.self)
    }

    /// The code as devices and pages show it, such as `WDJB-MJHT`.
    package var description: String { "\(letters.prefix(4))-\(letters.suffix(4))" }
}
