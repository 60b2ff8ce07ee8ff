/// The phrases of one area of the pages: an enum whose raw values are keys of the catalogue.
///
///     enum AccountPhrase: String, Phrase {
///         case sessionEnded = "account.session-ended"
///     }
///
/// A test reads the sources for these enums and sees to it that every case has a text.
public protocol Phrase: RawRepresentable<String>, CaseIterable, Sendable {}
