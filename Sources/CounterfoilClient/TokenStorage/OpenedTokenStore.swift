public import Foundation

/// A token store, with where it is and why there.
public struct OpenedTokenStore: Sendable, CustomStringConvertible {
    /// The store, of tokens and of what an application registered itself.
    public let store: any TokenStore & ClientRegistrationStore
    /// Where it keeps tokens.
    public let place: Place
    /// Why there, as the end of a sentence.
    public let reason: String

    /// Where a store keeps tokens.
    public enum Place: Sendable, Hashable, CustomStringConvertible {
        /// In the Keychain of an Apple device.
        case keychain
        /// In the Secret Service of a Linux desktop.
        case secretService
        /// In an encrypted file.
        case file(URL)
        /// In memory.
        case memory

        /// The place, to be shown.
        public var description: String {
            switch self {
            case .keychain: "the Keychain"
            case .secretService: "the Secret Service"
            case .file(let url): "the encrypted file \(url.path)"
            case .memory: "memory"
            }
        }
    }

    init(_ store: any TokenStore & ClientRegistrationStore, in place: Place, because reason: String) {
        self.store = store
        self.place = place
        self.reason = reason
    }

    /// One sentence without a full stop, such as `tokens are kept in the Secret Service: it answers and is unlocked`.
    public var description: String {
        "tokens are kept in \(place)" + (keyLocation.map { ", whose key is in \($0)" } ?? "") + ": \(reason)"
    }

    #if os(Windows)
        private var keyLocation: String? { nil }

        static func automatic(_ environment: [String: String]) async throws(TokenStoreError) -> OpenedTokenStore {
            OpenedTokenStore(MemoryTokenStore(), in: .memory, because: "this system has no other store yet")
        }
    #else
        private var keyLocation: String? {
            (store as? EncryptedFileTokenStore).flatMap { try? $0.keyLocation() }.map { "\($0)" }
        }

        /// The best store that works here.
        static func automatic(_ environment: [String: String]) async throws(TokenStoreError) -> OpenedTokenStore {
            let file = EncryptedFileTokenStore.standard(placement: .besideTheFile, environment: environment)
            if PrivateFile(path: file.file.path).exists {
                return OpenedTokenStore(file, in: .file(file.file), because: "tokens are there already")
            }
            #if canImport(Security)
                if KeychainTokenStore.isUsable() {
                    return OpenedTokenStore(KeychainTokenStore(), in: .keychain, because: "this system has one")
                }
                let reason = "the Keychain is not open to a program that is not signed"
            #elseif os(Linux)
                let secrets = SecretServiceTokenStore(environment: environment)
                if SecretServiceTokenStore.isInUse(environment) {
                    return OpenedTokenStore(secrets, in: .secretService, because: "tokens are there already")
                }
                let reason: String
                do throws(TokenStoreError) {
                    switch try await SecretService(environment: environment).readiness() {
                    case .ready:
                        return OpenedTokenStore(
                            secrets, in: .secretService, because: "it answers and its collection is unlocked")
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
