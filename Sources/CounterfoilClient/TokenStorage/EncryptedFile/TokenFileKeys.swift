#if !os(Windows)
    import CounterfoilProtocol
    import Crypto
    public import CounterfoilPlatform

    /// The place where ``EncryptedFileTokenStore`` puts the key when it creates the file.
    public enum TokenFileKeyPlacement: Sendable, Hashable {
        /// The Secret Service if it is available and unlocked, otherwise a file beside the token file.
        case automatic
        /// A file beside the token file, with the suffix `.key`.
        case besideTheFile
    }

    /// The place where the key of an existing token file is stored, as the first line of the file says.
    public enum TokenFileKeyLocation: Sendable, Hashable, CustomStringConvertible {
        /// The key file at this URL.
        case file(URL)
        /// An item in the Secret Service of a Linux desktop.
        case secretService

        /// The path of the key file, or `the Secret Service`, for messages.
        public var description: String {
            switch self {
            case .file(let url): url.path
            case .secretService: "the Secret Service"
            }
        }
    }

    struct TokenFileKey: Sendable {
        let key: SymmetricKey
        let keyLocation: TokenFileHeader.KeyLocation
        /// Whether this process has just created the key.
        var isNew = false
    }

    /// The functions that read, create and delete the key of one encrypted file.
    struct TokenFileKeys: Sendable {
        let path: String
        let placement: TokenFileKeyPlacement
        let environment: [String: String]

        private static let byteCount = 32

        /// Returns the key file beside a token file.
        static func file(of path: String) -> URL { URL(fileURLWithPath: path + ".key") }

        private var keyFile: PrivateFile { PrivateFile(path: path + ".key") }

        /// Reads the key that a header names.
        ///
        /// A key in the Secret Service is read through the program `secret-tool`. For a key in a file, no other program
        /// is started.
        func key(of header: TokenFileHeader) async throws(TokenStoreError) -> TokenFileKey {
            let bytes: [UInt8]?
            let location = header.location(of: path)
            switch header.keyLocation {
            case .file: bytes = try keyFile.read()
            case .secretService(let identifier): bytes = try await readSecretService(identifier)
            }
            guard let bytes else { throw .keyMissing(path: path, key: "\(location)") }
            guard bytes.count == Self.byteCount else { throw .unreadable(path: path) }
            return TokenFileKey(key: SymmetricKey(data: bytes), keyLocation: header.keyLocation)
        }

        /// Creates the key of a new file.
        ///
        /// If the key file of a deleted token file still exists, its key is used again.
        func make() async throws(TokenStoreError) -> TokenFileKey {
            if let bytes = try keyFile.read(), bytes.count == Self.byteCount {
                return TokenFileKey(key: SymmetricKey(data: bytes), keyLocation: .file)
            }
            let key = SymmetricKey(size: .bits256)
            let bytes = key.withUnsafeBytes { Array($0) }
            if placement == .automatic, let identifier = try await keepInSecretService(bytes) {
                return TokenFileKey(key: key, keyLocation: .secretService(identifier), isNew: true)
            }
            try keyFile.replace(with: bytes)
            return TokenFileKey(key: key, keyLocation: .file, isNew: true)
        }

        /// Deletes the key of a deleted file.
        ///
        /// A failure is ignored: a key that remains is harmless, because the file that it decrypts no longer exists.
        func forget(_ key: TokenFileKey) async {
            switch key.keyLocation {
            case .file: try? keyFile.remove()
            case .secretService(let identifier): await forgetInSecretService(identifier)
            }
        }

        #if os(Linux)
            private func attributes(_ identifier: String) -> SecretService.Attributes {
                // The identifier is random, so the keys of all apps can have the same attribute `application`.
                SecretService.Attributes(kind: .fileKey, of: .commandLine, ["key": identifier])
            }

            private func readSecretService(_ identifier: String) async throws(TokenStoreError) -> [UInt8]? {
                let service: SecretService
                do throws(TokenStoreError) {
                    service = try SecretService(environment: environment)
                    return try await service.lookup(attributes(identifier)).map { Base64URL.decode($0) ?? [] }
                } catch {
                    guard case .unavailable(let location, let reason) = error else { throw error }
                    throw .unavailable(
                        location: location, reason: "\(reason). The key of the token store \(path) is stored in it")
                }
            }

            private func keepInSecretService(_ key: [UInt8]) async throws(TokenStoreError) -> String? {
                guard
                    let service = try? SecretService(environment: environment),
                    await service.readiness() == .ready
                else { return nil }
                let identifier = Base64URL.encode(RandomBytes().bytes(16))
                let text = Base64URL.encode(key)
                try await service.store(text, as: attributes(identifier), label: "Counterfoil: key of \(path)")
                // Check that the service has stored the key. Without the key, the encrypted tokens would be lost.
                guard try await service.lookup(attributes(identifier)) == text else {
                    throw .damaged(location: SecretService.name)
                }
                return identifier
            }

            private func forgetInSecretService(_ identifier: String) async {
                try? await SecretService(environment: environment).clear(attributes(identifier))
            }
        #else
            private func readSecretService(_ identifier: String) async throws(TokenStoreError) -> [UInt8]? {
                throw .unavailable(
                    location: "the Secret Service",
                    reason: "this system has none. The key of the token store \(path) is stored in it")
            }

            private func keepInSecretService(_ key: [UInt8]) async throws(TokenStoreError) -> String? { nil }

            private func forgetInSecretService(_ identifier: String) async {}
        #endif
    }
#endif
