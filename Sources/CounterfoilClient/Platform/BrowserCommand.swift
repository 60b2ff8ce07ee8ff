/// A command line that opens an address, as words and never through a shell.
///
/// One entry of `$BROWSER`: words separated by blanks, quoted with `"` or `'` or a backslash where needed; `%s` stands for
/// the address and `%%` for `%`. Without `%s` the address is the last argument.
struct BrowserCommand: Sendable, Hashable {
    /// The words, with their `%` still in them.
    let words: [String]

    /// Splits an entry into words, or answers nil when it has none or a quotation is left open.
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
        // A trailing & asks a shell for the background, where a browser is anyway.
        if words.last == "&" { words.removeLast() }
        guard let program = words.first, !program.isEmpty else { return nil }
        self.words = words
    }

    /// The commands of a value of `$BROWSER`: entries separated by colons, in the order in which they are tried.
    static func list(parsing variable: String) -> [BrowserCommand] {
        variable.split(separator: ":").compactMap { BrowserCommand(parsing: $0) }
    }

    /// The words with the address in its place; the address is part of one argument only.
    func arguments(for url: BrowserURL) -> [String] {
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
                    result += url.rawValue
                case "%", nil: result.append("%")
                case let other?: result += "%\(other)"
                }
            }
            return result
        }
        if !isPlaced { arguments.append(url.rawValue) }
        return arguments
    }
}
