import Foundation

/// All texts of the pages in all languages, from the files in `Catalogue`.
package struct Catalogue: Sendable {
    /// The reason why a catalogue cannot be used; an error in one of its files.
    package enum Refusal: Error, Hashable, CustomStringConvertible {
        /// A file is not a flat JSON object of strings.
        case unreadable(Language)
        /// A text cannot be parsed.
        case broken(String, Language)

        /// The file and its error.
        package var description: String {
            switch self {
            case .unreadable(let language):
                "the texts of the language \(language.rawValue) are not a flat JSON object of strings"
            case .broken(let key, let language):
                "the text \(key) in \(language.rawValue) has an unmatched brace or an invalid placeholder name"
            }
        }
    }

    /// The catalogue in the resources of the server.
    package static let shipped = Result { try Catalogue(files: files) }

    private let messages: [Language: [String: MessageTemplate]]

    /// Parses a catalogue with one file for each language.
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

    /// Returns the text of a key; falls back to English, and to nil if English lacks it too.
    package func message(_ key: String, in language: Language) -> MessageTemplate? {
        messages[language]?[key] ?? messages[.english]?[key]
    }

    /// Returns the texts of one language, without the fallback.
    package func messages(in language: Language) -> [String: MessageTemplate] { messages[language] ?? [:] }

    private static var files: [Language: [UInt8]] {
        [
            .english: PackageResources.en_json, .german: PackageResources.de_json,
            .norwegian: PackageResources.nb_json, .french: PackageResources.fr_json,
            .spanish: PackageResources.es_json,
        ]
    }
}
