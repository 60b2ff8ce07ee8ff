/// An enum of the texts in one area of the pages; its raw values are keys of the catalogue.
///
///     enum AccountPhrase: String, Phrase {
///         case sessionEnded = "account.session-ended"
///     }
///
/// A test finds these enums in the sources and checks that every case has a text.
public protocol Phrase: RawRepresentable<String>, CaseIterable, Sendable {}
