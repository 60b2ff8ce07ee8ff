public import Foundation

/// What is said to a person, before it is known in which language: a phrase and what stands in its places.
///
///     Text(AccountPhrase.sessionEnded, ["device": .name(device)])
public struct Text: Sendable, Hashable {
    /// What stands in a place of a phrase.
    public enum Value: Sendable, Hashable, ExpressibleByStringInterpolation {
        /// Text of no language, such as an address.
        case text(String)
        /// A name that somebody chose.
        case name(DisplayName)
        /// A day, which each language writes in its own way.
        case date(Date)
        /// A whole number. The one called `count` also chooses between a phrase and its `.one` form.
        case number(Int)
        /// A part that is itself said in the language.
        case phrase(Text)

        /// Text that stands in the source.
        public init(stringLiteral value: String) { self = .text(value) }
    }

    /// The key in the catalogue.
    package let key: String
    /// What stands in the places, by their names.
    package let values: [String: Value]

    /// A phrase with what stands in its places.
    public init(_ phrase: some Phrase, _ values: [String: Value] = [:]) {
        self.init(key: phrase.rawValue, values)
    }

    init(key: String, _ values: [String: Value] = [:]) {
        self.key = key
        self.values = values
    }
}
