public import Foundation

/// Where tokens are to be kept, as a person chooses it.
public enum TokenStoreChoice: Sendable, Hashable {
    /// The best place that works here; see ``open(environment:)``.
    case automatic
    /// The Keychain of an Apple device.
    case keychain
    /// The Secret Service of a Linux desktop.
    case secretService
    /// An encrypted file.
    case file(URL)
    /// Nowhere: forgotten when the program ends.
    case memory

    /// Why a text is not a choice.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is none of the words.
        case unknown
        /// It names no file.
        case noFile
        /// Its path begins with `~`, which only a shell expands, and not in the middle of a word.
        case tilde
        /// Its path ends with a slash or holds control characters.
        case badPath

        /// What is wrong and how to mend it.
        public var description: String {
            switch self {
            case .unknown: "it must be auto, keychain, secret-service, memory or file:PATH"
            case .noFile: "a path must follow file:, such as file:/home/alice/tokens"
            case .tilde: "a ~ is not expanded after file:; write the path in full, or file:$HOME/…"
            case .badPath: "the path after file: must name a file, not a folder, and hold no control characters"
            }
        }
    }

    /// Reads `auto`, `keychain`, `secret-service`, `memory` or `file:PATH`.
    public init(parsing text: String) throws(Refusal) {
        switch text {
        case "auto": self = .automatic
        case "keychain": self = .keychain
        case "secret-service": self = .secretService
        case "memory": self = .memory
        default:
            guard text.hasPrefix("file:") else { throw .unknown }
            let path = text.dropFirst(5)
            guard !path.isEmpty else { throw .noFile }
            guard !path.hasPrefix("~") else { throw .tilde }
            let isWritable = path.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            guard isWritable, !path.hasSuffix("/") else { throw .badPath }
            self = .file(URL(fileURLWithPath: String(path)))
        }
    }

    /// Opens the store of a choice.
    ///
    /// `auto` stays where tokens already are: in the standard encrypted file, or in the Secret Service. Otherwise it takes
    /// the Keychain on Apple devices; on Linux the Secret Service, if it answers at once and its collection is unlocked; and
    /// where there is neither the standard encrypted file, its key beside it. Nobody is ever prompted by the choice.
    public func open(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws(TokenStoreError) -> OpenedTokenStore {
        switch self {
        case .automatic: return try await OpenedTokenStore.automatic(environment)
        case .memory:
            return OpenedTokenStore(
                MemoryTokenStore(), in: .memory, because: "they are gone when this program ends")
        case .keychain:
            #if canImport(Security)
                return OpenedTokenStore(KeychainTokenStore(), in: .keychain, because: Self.asked)
            #else
                throw .unavailable(place: "the Keychain", reason: "this system has none")
            #endif
        case .secretService:
            #if os(Linux)
                return OpenedTokenStore(
                    SecretServiceTokenStore(environment: environment), in: .secretService, because: Self.asked)
            #else
                throw .unavailable(place: "the Secret Service", reason: "this system has none")
            #endif
        case .file(let url):
            #if os(Windows)
                throw .unavailable(place: url.path, reason: "encrypted files are not available on this system")
            #else
                return OpenedTokenStore(
                    EncryptedFileTokenStore(file: url, environment: environment), in: .file(url), because: Self.asked)
            #endif
        }
    }

    private static let asked = "it was asked for"
}
