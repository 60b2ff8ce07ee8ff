/// A command that opens a URL, split into words and never passed to a shell.
///
/// Each entry of `$BROWSER` is a command. Blanks separate the words; `"`, `'` or a backslash quotes them. `%s`
/// stands for the URL and `%%` for `%`. If the command contains no `%s`, the URL becomes the last argument.
struct BrowserCommand: Sendable, Hashable {
    /// The program and its arguments, before `%s` and `%%` are replaced.
    let words: [String]

    /// Splits an entry of `$BROWSER` into words; nil if it names no program, or if a quotation is incomplete.
    init?(parsing entry: some StringProtocol) {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var characters = entry.makeIterator()
        while let character = characters.next() {
            switch (quote, character) {
            case (let open?, _) where character == open:
                quote = nil
            case (nil, "\""), (nil, "'"):
                quote = character
                word = word ?? ""
            case (nil, "\\"), ("\""?, "\\"):
                guard let escaped = characters.next() else { return nil }
                word = (word ?? "") + String(escaped)
            case (nil, " "), (nil, "\t"):
                if let finished = word { words.append(finished) }
                word = nil
            default:
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else { return nil }
        if let finished = word { words.append(finished) }
        // A trailing `&` asks a shell to run the browser in the background. Remove it, because no shell runs here.
        if words.last == "&" { words.removeLast() }
        guard let program = words.first, !program.isEmpty else { return nil }
        self.words = words
    }

    /// Parses a value of `$BROWSER`: commands separated by colons, in the order in which the launcher tries them.
    ///
    /// Invalid entries are skipped.
    static func list(parsing variable: String) -> [BrowserCommand] {
        variable.split(separator: ":").compactMap { BrowserCommand(parsing: $0) }
    }

    /// Returns the words of the command with the URL in place of `%s`.
    ///
    /// The URL is never split into several arguments.
    func arguments(for url: String) -> [String] {
        var isPlaced = false
        var arguments = words.map { word in
            var result = ""
            var characters = word.makeIterator()
            while let character = characters.next() {
                guard character == "%" else {
                    result.append(character)
                    continue
                }
                switch characters.next() {
                case "s":
                    isPlaced = true
                    result += url
                case "%", nil: result.append("%")
                case let other?: result += "%\(other)"
                }
            }
            return result
        }
        if !isPlaced { arguments.append(url) }
        return arguments
    }
}
