#if !os(Windows)
    import Crypto
    public import Foundation

    /// A store in one encrypted file, with its key in a file beside it.
    ///
    /// AES-256-GCM. Both files have the mode 0600 in a directory of mode 0700, belong to the person who runs the application,
    /// and are refused otherwise. The encryption keeps tokens out of backups, indexes and searches that take one file and
    /// not the other; against somebody who can read both, only the modes protect. A write replaces the file as a whole, so
    /// that a crash leaves the old one or the new one.
    public struct EncryptedFileTokenStore: TokenStore {
        /// The file with the credentials; the key is in the file of the same name with `.key` at its end.
        public let file: URL

        private var keyFile: PrivateFile { PrivateFile(path: file.path + ".key") }
        private var tokenFile: PrivateFile { PrivateFile(path: file.path) }

        /// The first bytes of the file, which the encryption authenticates too.
        private static let header = Array("counterfoil tokens 1\n".utf8)

        /// A store in a file, which need not exist yet.
        public init(file: URL) { self.file = file }

        /// The store where the person's applications keep their data: `$XDG_DATA_HOME/counterfoil/tokens`.
        ///
        /// Without that variable it is `~/.local/share/counterfoil/tokens`.
        public static func standard(
            environment: [String: String] = ProcessInfo.processInfo.environment
        ) -> EncryptedFileTokenStore {
            let data: URL
            // A relative value is ignored, as the XDG Base Directory Specification says.
            if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") {
                data = URL(fileURLWithPath: path, isDirectory: true)
            } else {
                let home = environment["HOME"].map { URL(fileURLWithPath: $0, isDirectory: true) }
                data = (home ?? FileManager.default.homeDirectoryForCurrentUser)
                    .appendingPathComponent(".local/share", isDirectory: true)
            }
            return EncryptedFileTokenStore(file: data.appendingPathComponent("counterfoil/tokens"))
        }

        /// The credentials of a profile, or nil when there are none.
        public func credentials(of profile: ProfileName) throws(TokenStoreError) -> Credentials? {
            try profiles()[profile.rawValue]
        }

        /// Keeps the credentials of a profile; durable when it returns.
        public func save(_ credentials: Credentials, as profile: ProfileName) throws(TokenStoreError) {
            try change { $0[profile.rawValue] = credentials }
        }

        /// Forgets the credentials of a profile; answers whether there were any.
        @discardableResult
        public func remove(_ profile: ProfileName) throws(TokenStoreError) -> Bool {
            guard try profiles()[profile.rawValue] != nil else { return false }
            try change { $0[profile.rawValue] = nil }
            return true
        }

        private func change(_ edit: (inout [String: Credentials]) -> Void) throws(TokenStoreError) {
            try tokenFile.makeDirectory()
            // Two processes that save at once both succeed, one after the other.
            let lock = try PrivateFile(path: file.path + ".lock").lock()
            defer { lock.release() }
            var profiles = try profiles()
            edit(&profiles)
            try write(profiles)
        }

        private func profiles() throws(TokenStoreError) -> [String: Credentials] {
            guard let sealed = try tokenFile.read() else { return [:] }
            guard sealed.starts(with: Self.header), let key = try key() else { throw .unreadable(path: file.path) }
            guard
                let box = try? AES.GCM.SealedBox(combined: sealed.dropFirst(Self.header.count)),
                let plain = try? AES.GCM.open(box, using: key, authenticating: Self.header),
                let profiles = try? JSONDecoder().decode([String: Credentials].self, from: plain)
            else { throw .unreadable(path: file.path) }
            return profiles
        }

        private func write(_ profiles: [String: Credentials]) throws(TokenStoreError) {
            let stored = try key()
            let key = if let stored { stored } else { try makeKey() }
            guard let plain = try? JSONEncoder().encode(profiles),
                let sealed = try? AES.GCM.seal(plain, using: key, authenticating: Self.header).combined
            else { throw .failed(path: file.path, reason: "the credentials cannot be encrypted") }
            try tokenFile.replace(with: Self.header + sealed)
        }

        private func key() throws(TokenStoreError) -> SymmetricKey? {
            guard let bytes = try keyFile.read() else { return nil }
            guard bytes.count == 32 else { throw .unreadable(path: keyFile.path) }
            return SymmetricKey(data: bytes)
        }

        private func makeKey() throws(TokenStoreError) -> SymmetricKey {
            let key = SymmetricKey(size: .bits256)
            try keyFile.replace(with: key.withUnsafeBytes { Array($0) })
            return key
        }
    }
#endif
