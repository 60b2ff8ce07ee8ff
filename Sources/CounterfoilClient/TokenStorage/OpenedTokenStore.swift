public import CounterfoilPlatform

/// A token store with its location and the reason for that location.
public struct OpenedTokenStore: Sendable, CustomStringConvertible {
    /// The store of tokens and client registrations.
    public let store: any TokenStore & ClientRegistrationStore
    /// The location of the tokens, which apps can show to the user.
    public let location: Location
    /// The reason for the choice of the location, as a clause without a full stop, such as `it was requested`.
    public let reason: String

    /// The storage that was opened; for ``TokenStoreChoice/automatic``, the storage that it selected.
    public enum Location: Sendable, Hashable, CustomStringConvertible {
        /// The Keychain of an Apple device.
        case keychain
        /// The Secret Service of a Linux desktop.
        case secretService
        /// The encrypted file at this URL.
        case file(URL)
        /// The memory of the process; the tokens are lost when the process ends.
        case memory

        /// The location as a phrase for messages, such as `the Keychain`.
        public var description: String {
            switch self {
            case .keychain: "the Keychain"
            case .secretService: "the Secret Service"
            case .file(let url): "the encrypted file \(url.path)"
            case .memory: "memory"
            }
        }
    }

    init(_ store: any TokenStore & ClientRegistrationStore, in location: Location, because reason: String) {
        self.store = store
        self.location = location
        self.reason = reason
    }

    /// The location and the reason, without a full stop, such as `tokens are stored in the Keychain: it is available`.
    public var description: String {
        "tokens are stored in \(location)" + (keyLocation.map { ", with its key in \($0)" } ?? "") + ": \(reason)"
    }

    #if os(Windows)
        private var keyLocation: String? { nil }

        static func automatic(
            _ application: ApplicationIdentifier, _ environment: [String: String]
        ) async throws(TokenStoreError) -> OpenedTokenStore {
            OpenedTokenStore(MemoryTokenStore(), in: .memory, because: "this system has no other store yet")
        }
    #else
        private var keyLocation: String? {
            (store as? EncryptedFileTokenStore).flatMap { try? $0.keyLocation() }.map { "\($0)" }
        }

        /// Opens the store that ``TokenStoreChoice/automatic`` selects.
        static func automatic(
            _ application: ApplicationIdentifier, _ environment: [String: String]
        ) async throws(TokenStoreError) -> OpenedTokenStore {
            let file = EncryptedFileTokenStore.standard(
                for: application, placement: .besideTheFile, environment: environment)
            if PrivateFile(path: file.file.path).exists {
                return OpenedTokenStore(file, in: .file(file.file), because: "it already contains tokens")
            }
            #if canImport(Security)
                if KeychainTokenStore.isUsable(application: application) {
                    return OpenedTokenStore(
                        KeychainTokenStore(application: application), in: .keychain, because: "it is available")
                }
                let reason = "the Keychain is available only to signed programs"
            #elseif os(Linux)
                let secrets = SecretServiceTokenStore(application: application, environment: environment)
                if secrets.isInUse {
                    return OpenedTokenStore(secrets, in: .secretService, because: "it already contains tokens")
                }
                let reason: String
                do throws(TokenStoreError) {
                    switch try await SecretService(environment: environment).readiness() {
                    case .ready:
                        return OpenedTokenStore(
                            secrets, in: .secretService, because: "it is available and its collection is unlocked")
                    case .notReady(let why): reason = "the Secret Service is not used, because \(why)"
                    }
                } catch {
                    guard case .unavailable(_, let why) = error else { throw error }
                    reason = "the Secret Service is not used, because \(why)"
                }
            #else
                let reason = "this system has no other store"
            #endif
            return OpenedTokenStore(file, in: .file(file.file), because: reason)
        }
    #endif
}
