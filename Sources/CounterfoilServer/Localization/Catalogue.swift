import Foundation

/// Every text of the pages in every language, as the files beside this one have it.
package struct Catalogue: Sendable {
    /// Why a catalogue cannot be used; the fault of whoever edited it.
    package enum Refusal: Error, Hashable, CustomStringConvertible {
        /// A file is not a flat JSON object of strings.
        case unreadable(Language)
        /// A text cannot be read.
        case broken(String, Language)

        /// What to mend.
        package var description: String {
            switch self {
            case .unreadable(let language):
                "a file of the texts in \(language.rawValue) is not a JSON object of strings"
            case .broken(let key, let language):
                "the text \(key) in \(language.rawValue) has a brace without its other half, or a place without a name"
            }
        }
    }

    /// The catalogue that the server was built with.
    package static let shipped = Result { try Catalogue(files: files) }

    private let messages: [Language: [String: Message]]

    /// Reads a catalogue: a file for each language.
    package init(files: [Language: [UInt8]]) throws(Refusal) {
        var messages: [Language: [String: Message]] = [:]
        for (language, file) in files {
            guard let texts = try? JSONDecoder().decode([String: String].self, from: Data(file)) else {
                throw .unreadable(language)
            }
            var known: [String: Message] = [:]
            for (key, text) in texts {
                guard let message = try? Message(parsing: text) else { throw .broken(key, language) }
                known[key] = message
            }
            messages[language] = known
        }
        self.messages = messages
    }

    /// The text of a key; English where the language does not have it, nil where English does not.
    package func message(_ key: String, in language: Language) -> Message? {
        messages[language]?[key] ?? messages[.english]?[key]
    }

    /// The texts that a language has of its own.
    package func messages(in language: Language) -> [String: Message] { messages[language] ?? [:] }

    private static var files: [Language: [UInt8]] {
        [
            .english: PackageResources.en_json, .german: PackageResources.de_json,
            .norwegian: PackageResources.nb_json, .french: PackageResources.fr_json,
            .spanish: PackageResources.es_json,
        ]
    }
}
