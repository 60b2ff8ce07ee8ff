import CEmbeddedFiles
package import CounterfoilStore
import Foundation

/// The texts of the server in all languages, from the JSON files in the folder `Catalogue`.
package struct Catalogue: Sendable {
    /// The reason why a catalogue cannot be used: an error in the file of one language.
    package enum Refusal: Error, Hashable, CustomStringConvertible {
        /// The file of the language is not a JSON object whose values are all strings.
        case unreadable(Language)
        /// The text with this key is not a valid ``MessageTemplate``.
        case broken(String, Language)

        /// The error, and the language and key to which it belongs.
        package var description: String {
            switch self {
            case .unreadable(let language):
                "the texts of the language \(language.rawValue) are not a flat JSON object of strings"
            case .broken(let key, let language):
                "the text \(key) in \(language.rawValue) has an unmatched brace or an invalid placeholder name"
            }
        }
    }

    /// The catalogue in the resources of this module, or the error in one of its files.
    package static let shipped = Result { try Catalogue(files: files) }

    private let messages: [Language: [String: MessageTemplate]]

    /// Parses the files of a catalogue, one for each language.
    package init(files: [Language: [UInt8]]) throws(Refusal) {
        var messages: [Language: [String: MessageTemplate]] = [:]
        for (language, file) in files {
            guard let texts = try? JSONDecoder().decode([String: String].self, from: Data(file)) else {
                throw .unreadable(language)
            }
            var known: [String: MessageTemplate] = [:]
            for (key, text) in texts {
                guard let message = try? MessageTemplate(parsing: text) else { throw .broken(key, language) }
                known[key] = message
            }
            messages[language] = known
        }
        self.messages = messages
    }

    /// Returns the text of a key in a language, or else in English; nil if both lack it.
    package func message(_ key: String, in language: Language) -> MessageTemplate? {
        messages[language]?[key] ?? messages[.english]?[key]
    }

    /// Returns the texts of one language by key, without the fallback to English.
    package func messages(in language: Language) -> [String: MessageTemplate] { messages[language] ?? [:] }

    private static var files: [Language: [UInt8]] {
        [
            .english: [UInt8](embedded_catalogue_en()), .german: [UInt8](embedded_catalogue_de()),
            .norwegian: [UInt8](embedded_catalogue_nb()), .french: [UInt8](embedded_catalogue_fr()),
            .spanish: [UInt8](embedded_catalogue_es()),
        ]
    }
}
