/// Texts in the command lines that a message suggests.
enum ShellText {
    /// Returns a text as one word of a POSIX shell.
    static func quoted(_ text: String) -> String {
        let isPlain = text.wholeMatch(of: /[A-Za-z0-9_.\/:@%+,-]+/) != nil
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
