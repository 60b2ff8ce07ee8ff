/// A number of seconds in the words of a sentence, such as "10 minutes" or "1 minute 30 seconds".
package struct SpokenDuration: Sendable, CustomStringConvertible {
    private let seconds: Int

    package init(seconds: Int) { self.seconds = seconds }

    package var description: String {
        let parts = [(seconds / 3600, "hour"), (seconds / 60 % 60, "minute"), (seconds % 60, "second")]
        let words = parts.filter { $0.0 > 0 }.map { count, unit in "\(count) \(unit)\(count == 1 ? "" : "s")" }
        return words.isEmpty ? "0 seconds" : words.joined(separator: " ")
    }
}
