/// A message to a user with a text in every language, such as an error, a finding or a label.
package protocol Localized: Sendable {
    /// The key of the message in the catalogue and the values of its placeholders.
    var text: LocalizedText { get }
}

extension Localized where Self: CustomStringConvertible {
    /// The message in English, for the command line and the log.
    package var description: String { Localizer.english(self) }
}

/// An enum of messages whose raw values are keys of the catalogue; its cases have no associated values.
///
///     enum SetupError: String, LocalizationKey {
///         case usernameTaken = "setup.username-taken"
///     }
///
/// An enum with associated values conforms to ``Localized`` instead, and its ``Localized/text`` returns a key
/// for each case. A test collects the keys of both kinds from the sources and checks that the catalogue contains
/// them.
package protocol LocalizationKey: Localized, RawRepresentable<String>, CaseIterable {
    /// The values of the placeholders, if they are the same for every use of the message; empty by default.
    var values: [String: LocalizedText.Value] { get }
}

extension LocalizationKey {
    package var values: [String: LocalizedText.Value] { [:] }

    /// The message with its ``values``.
    package var text: LocalizedText { LocalizedText(self, values) }
}
