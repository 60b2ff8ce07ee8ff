public import Foundation

/// A text for a user before the choice of the language: a phrase and the values of its placeholders.
///
///     LocalizedText(AccountPhrase.sessionEnded, ["device": .name(device)])
public struct LocalizedText: Sendable, Hashable {
    /// The value of a placeholder.
    public enum Value: Sendable, Hashable, ExpressibleByStringInterpolation {
        /// Text that is not translated, such as a URL.
        case text(String)
        /// An untrusted name.
        case name(DisplayName)
        /// A date, formatted in the language.
        case date(Date)
        /// An integer. The one named `count` also chooses between a phrase and its `.one` form.
        case number(Int)
        /// A nested text, translated too.
        case phrase(LocalizedText)

        /// Creates text from a literal.
        public init(stringLiteral value: String) { self = .text(value) }
    }

    /// The key in the catalogue.
    package let key: String
    /// The values of the placeholders, by name.
    package let values: [String: Value]

    /// Creates a text from a phrase and the values of its placeholders.
    public init(_ phrase: some LocalizationKey, _ values: [String: Value] = [:]) {
        self.init(key: phrase.rawValue, values)
    }

    init(key: String, _ values: [String: Value] = [:]) {
        self.key = key
        self.values = values
    }
}
