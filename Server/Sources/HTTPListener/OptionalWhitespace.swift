extension StringProtocol {
    /// Returns the text without spaces and tabs at its beginning and end (RFC 9110 §5.6.3).
    func trimmingOptionalWhitespace() -> SubSequence {
        let isWhitespace = { (character: Character) in character == " " || character == "\t" }
        let start = drop(while: isWhitespace)
        guard let last = start.lastIndex(where: { !isWhitespace($0) }) else { return start }
        return start[...last]
    }
}
