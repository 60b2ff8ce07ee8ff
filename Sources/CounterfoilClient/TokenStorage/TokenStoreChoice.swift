public import CounterfoilPlatform

/// The user's choice of a token store, which ``init(parsing:)`` reads from text such as a setting.
public enum TokenStoreChoice: Sendable, Hashable {
    /// The store that is most suitable on this system; see ``open(application:environment:)`` for the order.
    case automatic
    /// The Keychain of an Apple device.
    case keychain
    /// The Secret Service of a Linux desktop.
    case secretService
    /// The encrypted file at this URL.
    case file(URL)
    /// The memory of the process; the tokens are lost when the process ends.
    case memory

    /// The reason why ``TokenStoreChoice/init(parsing:)`` rejects a text.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text is not a keyword and does not begin with `file:`.
        case unknown
        /// The text has no path after `file:`.
        case noFile
        /// The path after `file:` starts with `~`, which the shell expands only at the start of a word.
        case tilde
        /// The path after `file:` ends with a slash or contains control characters.
        case badPath

        /// The reason and the remedy as a clause for messages, without a full stop.
        public var description: String {
            switch self {
            case .unknown: "it must be auto, keychain, secret-service, memory or file:PATH"
            case .noFile: "a path must follow file:, such as file:/home/alice/tokens"
            case .tilde: "a ~ is not expanded after file:; write the path in full, or file:$HOME/…"
            case .badPath: "in file:PATH, the path must name a file, not a folder, and contain no control characters"
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

    /// Opens the chosen store of an app, which contains nothing of other apps.
    ///
    /// ``automatic`` selects the first of these stores:
    ///
    /// 1. the standard encrypted file, if it already exists;
    /// 2. on Apple devices, the Keychain, if the app can use it;
    /// 3. on Linux, the Secret Service, if it already contains tokens, or if it answers within two seconds and its
    ///    default collection is unlocked;
    /// 4. the standard encrypted file, with its key in a file beside it; on Windows, the memory of the process.
    ///
    /// The selection never causes a prompt. A file that the user has chosen (``file(_:)``) belongs to every app that
    /// opens it.
    public func open(
        application: ApplicationIdentifier,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws(TokenStoreError) -> OpenedTokenStore {
        switch self {
        case .automatic: return try await OpenedTokenStore.automatic(application, environment)
        case .memory:
            return OpenedTokenStore(
                MemoryTokenStore(), in: .memory, because: "they are lost when this program ends")
        case .keychain:
            #if canImport(Security)
                return OpenedTokenStore(
                    KeychainTokenStore(application: application), in: .keychain, because: Self.asked)
            #else
                throw .unavailable(location: "the Keychain", reason: "this system has none")
            #endif
        case .secretService:
            #if os(Linux)
                return OpenedTokenStore(
                    SecretServiceTokenStore(application: application, environment: environment), in: .secretService,
                    because: Self.asked)
            #else
                throw .unavailable(location: "the Secret Service", reason: "this system has none")
            #endif
        case .file(let url):
            #if os(Windows)
                throw .unavailable(location: url.path, reason: "encrypted files are not available on this system")
            #else
                return OpenedTokenStore(
                    EncryptedFileTokenStore(file: url, environment: environment), in: .file(url), because: Self.asked)
            #endif
        }
    }

    private static let asked = "it was requested"

    /// Opens the store that ``automatic`` selects for an app; see ``open(application:environment:)``.
    public static func defaultStore(
        for application: ApplicationIdentifier,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws(TokenStoreError) -> any TokenStore & ClientRegistrationStore {
        try await TokenStoreChoice.automatic.open(application: application, environment: environment).store
    }
}
