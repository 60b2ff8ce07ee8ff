package import Foundation

/// A text for a user that is not yet translated: a key of the catalogue and the values of its placeholders.
///
///     LocalizedText("logo.too-large", ["limit": .number(512)])
package struct LocalizedText: Localized, Hashable {
    /// The value of a placeholder.
    package enum Value: Sendable, Hashable, ExpressibleByStringInterpolation {
        /// A text that is shown as it is, such as a URL.
        case text(String)
        /// The sanitized name of a client, a publisher or a user.
        case name(DisplayName)
        /// A date, which is formatted in the user's language.
        case date(Date)
        /// An integer; if the placeholder is `count`, the number also selects the singular text, `key.one`.
        case number(Int)
        /// Another text, which is translated into the same language.
        case nested(LocalizedText)

        /// Creates a value that is shown as it is.
        package init(stringLiteral value: String) { self = .text(value) }
    }

    /// The key in the catalogue.
    package let key: String
    /// The values of the placeholders, by name.
    package let values: [String: Value]

    package var text: LocalizedText { self }

    /// Creates a text from a case of an enum of keys.
    package init(_ key: some LocalizationKey, _ values: [String: Value]) {
        self.init(key: key.rawValue, values)
    }

    /// Creates a text from a literal key, which a test finds in the sources and checks against the catalogue.
    package init(_ key: StaticString, _ values: [String: Value] = [:]) {
        self.init(key: "\(key)", values)
    }

    /// Creates a text from a computed key, such as `scope.` followed by the name of a standard scope.
    package init(key: String, _ values: [String: Value] = [:]) {
        self.key = key
        self.values = values
    }
}
