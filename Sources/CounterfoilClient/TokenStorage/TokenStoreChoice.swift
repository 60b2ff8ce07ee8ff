public import Foundation

/// The user's choice of a token store.
public enum TokenStoreChoice: Sendable, Hashable {
    /// The best store that works on this system; see ``open(environment:)``.
    case automatic
    /// The Keychain of an Apple device.
    case keychain
    /// The Secret Service of a Linux desktop.
    case secretService
    /// An encrypted file.
    case file(URL)
    /// The memory of the process, which is lost when it ends.
    case memory

    /// The reason why a text is not a choice.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is none of the keywords.
        case unknown
        /// It has no path after `file:`.
        case noFile
        /// Its path starts with `~`, which a shell expands only at the start of a word.
        case tilde
        /// Its path ends with a slash or contains control characters.
        case badPath

        /// The reason and the remedy.
        public var description: String {
            switch self {
            case .unknown: "it must be auto, keychain, secret-service, memory or file:PATH"
            case .noFile: "a path must follow file:, such as file:/home/alice/tokens"
            case .tilde: "a ~ is not expanded after file:; write the path in full, or file:$HOME/…"
            case .badPath: "the path after file: must name a file, not a folder, and contain no control characters"
            }
        }
    }

    /// Parses `auto`, `keychain`, `secret-service`, `memory` or `file:PATH`.
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

    /// Opens the chosen store.
    ///
    /// `auto` uses the store that already has tokens: the standard encrypted file, or the Secret Service.
    /// Otherwise it uses the Keychain on Apple devices. On Linux it uses the Secret Service if the service
    /// answers at once and its collection is unlocked. If neither is available, it uses the standard encrypted
    /// file with its key beside it. The choice never causes a prompt.
    public func open(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws(TokenStoreError) -> OpenedTokenStore {
        switch self {
        case .automatic: return try await OpenedTokenStore.automatic(environment)
        case .memory:
            return OpenedTokenStore(
                MemoryTokenStore(), in: .memory, because: "they are lost when this program ends")
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

    private static let asked = "it was requested"

    /// Opens the best store that works on this system, as ``automatic`` does.
    public static func defaultStore(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws(TokenStoreError) -> any TokenStore & ClientRegistrationStore {
        try await TokenStoreChoice.automatic.open(environment: environment).store
    }
}
