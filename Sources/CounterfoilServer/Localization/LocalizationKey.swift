/// A message to a user that exists in every language: an error, a finding, a label.
package protocol Localized: Sendable {
    /// The key and the values of the message.
    var text: LocalizedText { get }
}

extension Localized where Self: CustomStringConvertible {
    /// The message in English, for the command line and the log.
    package var description: String { Localizer.english(self) }
}

/// An enum of messages without associated values; its raw values are keys of the catalogue.
///
///     enum SetupError: String, LocalizationKey {
///         case usernameTaken = "setup.username-taken"
///     }
///
/// An enum with associated values conforms to ``Localized`` instead, and names a key for each case in
/// ``Localized/text``. A test reads both kinds of keys in the sources and compares them with the catalogues.
package protocol LocalizationKey: Localized, RawRepresentable<String>, CaseIterable {
    /// The values of the placeholders, if they are always the same; none by default.
    var values: [String: LocalizedText.Value] { get }
}

extension LocalizationKey {
    /// No values.
    package var values: [String: LocalizedText.Value] { [:] }

    /// The message with its ``values``.
    package var text: LocalizedText { LocalizedText(self, values) }
}
