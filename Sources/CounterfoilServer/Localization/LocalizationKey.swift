/// An enum of the texts in one area of the pages; its raw values are keys of the catalogue.
///
///     enum AccountPhrase: String, LocalizationKey {
///         case sessionEnded = "account.session-ended"
///     }
///
/// A test finds these enums in the sources and checks that every case has a text.
public protocol LocalizationKey: RawRepresentable<String>, CaseIterable, Sendable {}
