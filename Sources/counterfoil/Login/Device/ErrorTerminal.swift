import CounterfoilPlatform

/// The terminal at standard error.
struct ErrorTerminal: Sendable {
    let columns: Int
    let rows: Int
    /// Whether the terminal obeys escape sequences.
    let obeysSequences: Bool
    /// Whether the user wants colors (`NO_COLOR`).
    let hasColors: Bool

    /// Reads the size of the terminal; nil if standard error is not a terminal.
    ///
    /// A terminal that does not know its size, such as a serial line, counts as one of 80 columns and 24 rows.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        var size = winsize()
        let status = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size)
        let isKnown = status == 0 && size.ws_col > 0 && size.ws_row > 0
        columns = isKnown ? Int(size.ws_col) : 80
        rows = isKnown ? Int(size.ws_row) : 24
        obeysSequences = !["", "dumb"].contains(environment["TERM"] ?? "")
        hasColors = obeysSequences && (environment["NO_COLOR"] ?? "").isEmpty
    }
}
