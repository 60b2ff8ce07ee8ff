import CounterfoilTokens
import Foundation

/// The keys that somebody writes of an application, `jwks` (RFC 7591 §2): public ones for signatures, every one of use here.
enum ApplicationKeys {
    /// The most keys of an application: one that signs, and those that take over from it.
    static let limit = 10

    /// Reads a JSON Web Key Set (RFC 7517 §5).
    ///
    /// A set from the network may hold keys that are not for us; what somebody registers is meant, so nothing in it is passed
    /// over, least of all a private key that should never have come here.
    static func read(_ text: String) throws(Refusal) -> JSONWebKeySet {
        guard let set = try? JSONWebKeySet(parsing: Array(text.utf8)), let count = try? entries(of: text), count > 0
        else {
            throw .notAKeySet
        }
        guard count <= limit else { throw .tooMany }
        guard set.keys.count == count else { throw .unusableKey }
        return set
    }

    /// Why keys cannot be registered.
    package enum Refusal: Error {
        /// It is not a JSON Web Key Set, or an empty one.
        case notAKeySet
        /// It holds more than ``limit``.
        case tooMany
        /// One of them is private, twice there, or of a kind that verifies nothing here.
        case unusableKey

        var phrase: ApplicationPhrase {
            switch self {
            case .notAKeySet: .notAKeySet
            case .tooMany: .tooManyKeys
            case .unusableKey: .unusableKey
            }
        }
    }

    private static func entries(of text: String) throws -> Int {
        struct Document: Decodable {
            struct Key: Decodable {}
            let keys: [Key]
        }
        return try JSONDecoder().decode(Document.self, from: Data(text.utf8)).keys.count
    }
}
