#if !os(Windows)
    import CounterfoilProtocol
    import Crypto
    public import Foundation

    /// Where the key of an encrypted file goes when the file is made.
    public enum TokenFileKeyPlacement: Sendable, Hashable {
        /// Into the Secret Service where one answers and is unlocked, otherwise into a file beside it.
        case automatic
        /// Into a file beside it.
        case besideTheFile
    }

    /// Where the key of an encrypted file is.
    public enum TokenFileKeyLocation: Sendable, Hashable, CustomStringConvertible {
        /// In a file.
        case file(URL)
        /// In the Secret Service.
        case secretService

        /// The place, to be shown.
        public var description: String {
            switch self {
            case .file(let url): url.path
            case .secretService: "the Secret Service"
            }
        }
    }

    /// A key of an encrypted file and where it is.
    struct TokenFileKey: Sendable {
        let key: SymmetricKey
        let place: TokenFileHeader.KeyPlace
    }

    /// Finds, makes and forgets the key of one encrypted file.
    struct TokenFileKeys: Sendable {
        let path: String
        let placement: TokenFileKeyPlacement
        let environment: [String: String]

        private static let byteCount = 32

        /// The file in which a key lies beside its tokens.
        static func file(of path: String) -> URL { URL(fileURLWithPath: path + ".key") }

        private var keyFile: PrivateFile { PrivateFile(path: path + ".key") }

        /// The key that a file names.
        ///
        /// One that lies beside the file is read without any other process.
        func key(of header: TokenFileHeader) async throws(TokenStoreError) -> TokenFileKey {
            let bytes: [UInt8]?
            let location = header.location(of: path)
            switch header.place {
            case .file: bytes = try keyFile.read()
            case .secretService(let identifier): bytes = try await readSecretService(identifier)
            }
            guard let bytes else { throw .keyMissing(path: path, key: "\(location)") }
            guard bytes.count == Self.byteCount else { throw .unreadable(path: path) }
            return TokenFileKey(key: SymmetricKey(data: bytes), place: header.place)
        }

        /// The key for a file that is not there yet.
        ///
        /// A key beside it that has survived its file is used again.
        func make() async throws(TokenStoreError) -> TokenFileKey {
            if let bytes = try keyFile.read(), bytes.count == Self.byteCount {
                return TokenFileKey(key: SymmetricKey(data: bytes), place: .file)
            }
            let key = SymmetricKey(size: .bits256)
            let bytes = key.withUnsafeBytes { Array($0) }
            if placement == .automatic, let identifier = try await keepInSecretService(bytes) {
                return TokenFileKey(key: key, place: .secretService(identifier))
            }
            try keyFile.replace(with: bytes)
            return TokenFileKey(key: key, place: .file)
        }

        /// Forgets a key whose file is gone; one that stays nevertheless opens nothing.
        func forget(_ key: TokenFileKey) async {
            switch key.place {
            case .file: try? keyFile.remove()
            case .secretService(let identifier): await forgetInSecretService(identifier)
            }
        }

        #if os(Linux)
            private func attributes(_ identifier: String) -> SecretService.Attributes {
                SecretService.Attributes(kind: .fileKey, ["key": identifier])
            }

            private func readSecretService(_ identifier: String) async throws(TokenStoreError) -> [UInt8]? {
                let service: SecretService
                do throws(TokenStoreError) {
                    service = try SecretService(environment: environment)
                    return try await service.lookup(attributes(identifier)).map { Base64URL.decode($0) ?? [] }
                } catch {
                    guard case .unavailable(let place, let reason) = error else { throw error }
                    throw .unavailable(
                        place: place, reason: "\(reason). The key of the token store \(path) is there")
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
                // A key that does not come back would lose every token that it encrypts.
                guard try await service.lookup(attributes(identifier)) == text else {
                    throw .damaged(place: SecretService.name)
                }
                return identifier
            }

            private func forgetInSecretService(_ identifier: String) async {
                try? await SecretService(environment: environment).clear(attributes(identifier))
            }
        #else
            private func readSecretService(_ identifier: String) async throws(TokenStoreError) -> [UInt8]? {
                throw .unavailable(
                    place: "the Secret Service",
                    reason: "this system has none. The key of the token store \(path) is there")
            }

            private func keepInSecretService(_ key: [UInt8]) async throws(TokenStoreError) -> String? { nil }

            private func forgetInSecretService(_ identifier: String) async {}
        #endif
    }
#endif
