extension StringProtocol {
    /// Returns the text without whitespace and line breaks at its beginning and end.
    @_spi(Counterfoil) public func trimmingWhitespace() -> String {
        let start = drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
