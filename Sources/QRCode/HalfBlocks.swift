extension QRCode {
    /// The colors of a code on a terminal.
    package enum TerminalColors: Sendable, CaseIterable {
        /// Black on white by escape sequences (ECMA-48 §8.3.117, SGR), on a terminal of any color.
        case blackOnWhite
        /// The two colors of the terminal, without an escape sequence.
        ///
        /// The light modules are drawn, which is right on a dark terminal. On a light terminal the code is inverted
        /// together with its quiet zone, and most readers accept it.
        case terminal
    }

    /// The number of rows and columns with the quiet zone.
    package var outerWidth: Int { width + 2 * Self.quietZone }

    /// Returns the lines of a drawing for a terminal, with the quiet zone.
    ///
    /// A character is two modules high, because it is about twice as high as it is wide. The lines have
    /// ``outerWidth`` columns, and no line feeds.
    package func halfBlocks(_ colors: TerminalColors) -> [String] {
        let places = -Self.quietZone..<width + Self.quietZone
        return stride(from: places.lowerBound, to: places.upperBound, by: 2).map { row in
            let line = places.map { column in
                let (upper, lower) = (isDark(row: row, column: column), isDark(row: row + 1, column: column))
                return switch colors {
                case .blackOnWhite: Self.block(upper: upper, lower: lower)
                case .terminal: Self.block(upper: !upper, lower: !lower)
                }
            }
            return switch colors {
            case .blackOnWhite: "\u{1B}[30;47m" + String(line) + "\u{1B}[0m"
            case .terminal: String(line)
            }
        }
    }

    /// Returns the character whose halves have the color of text where they are true.
    private static func block(upper: Bool, lower: Bool) -> Character {
        switch (upper, lower) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
    }
}
