import CounterfoilStore

extension UserCode {
    /// The reason why a typed text is not a code.
    enum TypingProblem: String, LocalizationKey, Error {
        /// The text contains no letter.
        case missing = "device-code.missing"
        /// The text contains letters of another alphabet, or with an accent.
        case otherAlphabet = "device-code.other-alphabet"
        /// The text contains a vowel or a digit, which no code contains.
        case otherCharacters = "device-code.other-characters"
        /// The text does not have eight letters.
        case wrongLength = "device-code.wrong-length"
    }

    /// Parses a text that a user has typed.
    ///
    /// RFC 8628 §6.1: upper and lower case are equal, and everything that is neither a letter nor a digit is ignored.
    /// The full-width forms of letters, which some keyboards type, count as the letters.
    init(typed text: String) throws(TypingProblem) {
        var letters: [UInt8] = []
        var isOfOtherAlphabet = false
        var hasOtherCharacters = false
        // The longest code with a space after each letter is shorter. A longer text is not searched.
        for scalar in text.unicodeScalars.prefix(Self.typedLimit) {
            let letter = Self.halfWidth(scalar)
            guard letter.properties.isAlphabetic || letter.properties.numericType != nil else { continue }
            guard let byte = UInt8(exactly: letter.value), letter.isASCII else {
                isOfOtherAlphabet = true
                continue
            }
            let upper = byte & 0xDF
            if Self.alphabet.contains(upper) { letters.append(upper) } else { hasOtherCharacters = true }
        }
        if isOfOtherAlphabet { throw .otherAlphabet }
        if hasOtherCharacters { throw .otherCharacters }
        guard !letters.isEmpty else { throw .missing }
        guard letters.count == Self.length, text.unicodeScalars.count <= Self.typedLimit else { throw .wrongLength }
        self.init(letters: String(decoding: letters, as: UTF8.self))
    }

    /// The maximum number of characters in a typed text.
    private static let typedLimit = 64

    /// Returns the ASCII letter of a full-width letter (U+FF21 to U+FF5A); any other character is returned unchanged.
    private static func halfWidth(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        guard (0xFF01...0xFF5E).contains(scalar.value) else { return scalar }
        return Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
    }
}
