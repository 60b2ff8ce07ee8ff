package import Foundation

/// A text for a user before the choice of the language: a key and the values of its placeholders.
///
///     LocalizedText("logo.too-large", ["limit": .number(512)])
package struct LocalizedText: Localized, Hashable {
    /// The value of a placeholder.
    package enum Value: Sendable, Hashable, ExpressibleByStringInterpolation {
        /// Text that is not translated, such as a URL.
        case text(String)
        /// An untrusted name.
        case name(DisplayName)
        /// A date, formatted in the language.
        case date(Date)
        /// An integer. The one named `count` also chooses between a key and its `.one` form.
        case number(Int)
        /// A nested text, translated too.
        case nested(LocalizedText)

        /// Creates text from a literal.
        package init(stringLiteral value: String) { self = .text(value) }
    }

    /// The key in the catalogue.
    package let key: String
    /// The values of the placeholders, by name.
    package let values: [String: Value]

    /// The text itself.
    package var text: LocalizedText { self }

    /// Creates a text from a key and the values of its placeholders.
    package init(_ key: some LocalizationKey, _ values: [String: Value]) {
        self.init(key: key.rawValue, values)
    }

    /// Creates a text from a literal key, which a test finds in the sources.
    package init(_ key: StaticString, _ values: [String: Value] = [:]) {
        self.init(key: "\(key)", values)
    }

    /// Creates a text from a computed key, such as the identifier of a standard scope with a prefix.
    package init(key: String, _ values: [String: Value] = [:]) {
        self.key = key
        self.values = values
    }
}
