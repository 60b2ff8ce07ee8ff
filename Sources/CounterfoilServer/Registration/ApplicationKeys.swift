import CounterfoilTokens
import Foundation

/// The keys in a client's registration, `jwks` (RFC 7591 §2): public signature keys that the server can use.
enum ApplicationKeys {
    /// The most keys of a client: one that signs, and its successors.
    static let limit = 10

    /// Reads a JSON Web Key Set (RFC 7517 §5).
    ///
    /// A key set from the network may contain keys for other purposes, which a reader ignores. A registered
    /// key set must contain usable keys only. In particular, a private key is refused, because it must
    /// never have been sent here.
    static func read(_ text: String) throws(Refusal) -> JSONWebKeySet {
        guard let set = try? JSONWebKeySet(parsing: Array(text.utf8)), let count = try? entries(of: text), count > 0
        else {
            throw .notAKeySet
        }
        guard count <= limit else { throw .tooMany }
        guard set.keys.count == count else { throw .unusableKey }
        return set
    }

    /// The reason why keys cannot be registered.
    package enum Refusal: Error {
        /// The text is not a JSON Web Key Set, or the set is empty.
        case notAKeySet
        /// The set has more keys than ``limit``.
        case tooMany
        /// A key is private, duplicated, or of a kind that this server cannot verify with.
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
