#if !os(Windows)
    public import CounterfoilProtocol
    import Crypto
    public import CounterfoilPlatform

    /// A store in one encrypted file, with its key in the Secret Service or in a file beside it.
    ///
    /// The file is encrypted with AES-256-GCM. The token file, the key file and the lock files belong to the
    /// user who runs the app and have the mode 0600. Their directory is created with the mode 0700. The store
    /// refuses files with other permissions.
    ///
    /// If the key is in a file beside the token file, the encryption protects tokens only from backups, indexes
    /// and searches that copy the token file without the key file. A program that can read both files can
    /// decrypt the tokens. Only the file modes keep other users from reading both.
    ///
    /// A write replaces the whole file, so a crash leaves either the old file or the new one. Before a refresh token is
    /// sent, the store reserves the space for the response in a file with the suffix `.room`, so that a disk that fills
    /// up meanwhile loses no tokens. The header of the
    /// file names the location of its key. The store creates no other key as long as the file exists. When the
    /// last profile and the last registration are deleted, the file and its key are deleted too.
    public struct EncryptedFileTokenStore: TokenStore {
        /// The file with the credentials.
        ///
        /// The lock files have this name with a suffix. The key file, if the key is in a file, has the suffix `.key`.
        public let file: URL

        private let keys: TokenFileKeys
        private var tokenFile: PrivateFile { PrivateFile(path: file.path) }

        /// The maximum time that a write waits for other writes, each of which takes milliseconds.
        private static let lockTimeout = Duration.seconds(10)

        /// The room that a new record may need, in bytes.
        private static let roomOfRecord = 64 * 1024

        /// Creates a store in a file, which need not exist yet.
        ///
        /// `placement` is the location for the key when the store creates the file. It has no effect on an existing
        /// file, which names the location of its key. `environment` contains the variables by which the Secret
        /// Service is found.
        public init(
            file: URL,
            placement: TokenFileKeyPlacement = .automatic,
            environment: [String: String] = ProcessInfo.processInfo.environment
        ) {
            self.file = file
            keys = TokenFileKeys(path: file.path, placement: placement, environment: environment)
        }

        /// Creates the store of an app at its standard path, `$XDG_DATA_HOME/APPLICATION/counterfoil/tokens`.
        ///
        /// If the variable is not set, the path is `~/.local/share/APPLICATION/counterfoil/tokens`.
        public static func standard(
            for application: ApplicationIdentifier,
            placement: TokenFileKeyPlacement = .automatic,
            environment: [String: String] = ProcessInfo.processInfo.environment
        ) -> EncryptedFileTokenStore {
            EncryptedFileTokenStore(
                file: UserDataDirectory.url(of: application, environment: environment)
                    .appendingPathComponent("tokens"),
                placement: placement, environment: environment)
        }

        /// Returns the location of the key, or nil if the file does not exist.
        public func keyLocation() throws(TokenStoreError) -> TokenFileKeyLocation? {
            guard let sealed = try tokenFile.read() else { return nil }
            return try TokenFileHeader(beginning: sealed, at: file.path).location(of: file.path)
        }

        /// Returns the record of a profile, or nil if there is none.
        public func record(of profile: ProfileName) async throws(TokenStoreError) -> TokenRecord? {
            try await read()?.contents.record(of: profile, at: file.path)
        }

        /// Returns every profile that has a record, sorted by name.
        public func profiles() async throws(TokenStoreError) -> [StoredProfile] {
            guard let contents = try await read()?.contents else { return [] }
            return try await StoredProfile.list(contents.names) { name throws(TokenStoreError) in
                try contents.record(of: name, at: file.path)
            }
        }

        /// Applies the change that the closure returns to the record of a profile, and returns what was stored before.
        @discardableResult
        public func update(
            _ profile: ProfileName, _ decide: @Sendable (StoredRecord) -> TokenRecord.Change
        ) async throws(TokenStoreError) -> StoredRecord {
            try await change(for: profile) { (contents) throws(TokenStoreError) in
                let before = contents.stored(profile, at: file.path)
                switch decide(before) {
                case .keep: return (before, isChanged: false)
                case .put(let record): try contents.put(record, as: profile, at: file.path)
                case .remove where before == .none: return (before, isChanged: false)
                case .remove: contents.remove(profile)
                }
                return (before, isChanged: true)
            }
        }

        /// Verifies that a record can be stored: reads the file and its key, and replaces the file by an equal one.
        ///
        /// If there is no file, the function creates one with its key and deletes both.
        public func checkWritable(_ profile: ProfileName) async throws(TokenStoreError) {
            let lock = try await writeLock(within: Self.lockTimeout)
            let stored = try await read()
            try tokenFile.checkRoom(for: Self.roomOfRecord)
            let key = try await write(stored?.contents ?? TokenFileContents(), with: stored?.key)
            if stored == nil {
                try tokenFile.remove()
                if key.isNew { await keys.forget(key) }
            }
            lock.release()
        }

        /// Returns the identity and the time of the file, which every write replaces.
        public func changeStamp() -> TokenStoreStamp? { tokenFile.stamp }

        /// Changes the contents of the file while holding the write lock.
        ///
        /// If the new contents are empty, the file and its key are deleted. `profile` is the one whose record changes.
        private func change<Value: Sendable>(
            for profile: ProfileName? = nil,
            _ change: (inout TokenFileContents) throws(TokenStoreError) -> (Value, isChanged: Bool)
        ) async throws(TokenStoreError) -> Value {
            let lock = try await writeLock(within: Self.lockTimeout)
            let stored = try await read()
            var contents = stored?.contents ?? TokenFileContents()
            let (value, isChanged) = try change(&contents)
            switch (isChanged, contents.isEmpty) {
            case (false, _): break
            case (true, false):
                let room = profile.map { PrivateFile(path: "\(file.path).\($0).room") }
                if let room, let profile, contents.stored(profile, at: file.path).record?.refreshIntent != nil {
                    try room.reserve((stored?.byteCount ?? 0) + Self.roomOfRecord)
                    try await write(contents, with: stored?.key)
                } else {
                    try await write(contents, with: stored?.key, inRoomOf: room)
                }
            case (true, true):
                if let profile { try PrivateFile(path: "\(file.path).\(profile).room").remove() }
                if stored != nil { try tokenFile.remove() }
                if let key = stored?.key { await keys.forget(key) }
            }
            lock.release()
            return value
        }

        private struct Opened {
            let contents: TokenFileContents
            let key: TokenFileKey
            let byteCount: Int
        }

        private func read() async throws(TokenStoreError) -> Opened? {
            var sealed = try tokenFile.read()
            while let bytes = sealed {
                do throws(TokenStoreError) {
                    return try await open(bytes)
                } catch {
                    // Another process may have replaced or deleted the file and its key between the read of the file
                    // and the read of the key. Try again if the file has changed.
                    let now = try tokenFile.read()
                    guard now != bytes else { throw error }
                    sealed = now
                }
            }
            return nil
        }

        private func open(_ sealed: [UInt8]) async throws(TokenStoreError) -> Opened {
            let header = try TokenFileHeader(beginning: sealed, at: file.path)
            let key = try await keys.key(of: header)
            guard
                let box = try? AES.GCM.SealedBox(combined: sealed.dropFirst(header.bytes.count)),
                let plain = try? AES.GCM.open(box, using: key.key, authenticating: header.bytes)
            else { throw .unreadable(path: file.path) }
            return Opened(
                contents: try TokenFileContents(plain, at: file.path), key: key, byteCount: sealed.count)
        }

        /// Writes the file and returns its key, which is a new one if none is known.
        @discardableResult
        private func write(
            _ contents: TokenFileContents, with known: TokenFileKey?, inRoomOf room: PrivateFile? = nil
        ) async throws(TokenStoreError) -> TokenFileKey {
            let key = if let known { known } else { try await keys.make() }
            let header = TokenFileHeader(key.keyLocation)
            do throws(TokenStoreError) {
                guard
                    let plain = contents.plain,
                    let sealed = try? AES.GCM.seal(plain, using: key.key, authenticating: header.bytes).combined
                else { throw .failed(path: file.path, reason: "the credentials cannot be encrypted") }
                try tokenFile.replace(with: header.bytes + sealed, inRoomOf: room)
            } catch {
                // A key without a file would stay for ever in the Secret Service.
                if key.isNew, !tokenFile.exists { await keys.forget(key) }
                throw error
            }
            return key
        }
    }

    extension EncryptedFileTokenStore: ClientRegistrationStore {
        /// Returns the registration at a server, or nil if the store has none.
        public func registration(at issuer: Issuer) async throws(TokenStoreError) -> ClientRegistration? {
            try await read()?.contents.registration(at: issuer)
        }

        /// Stores a registration and replaces an earlier one at the same server.
        ///
        /// The registration is durable when the function returns.
        public func save(_ registration: ClientRegistration) async throws(TokenStoreError) {
            try await change { (contents) throws(TokenStoreError) in
                (try contents.put(registration, at: file.path), isChanged: true)
            }
        }

        /// Deletes the registration at a server, if there is one.
        public func removeRegistration(at issuer: Issuer) async throws(TokenStoreError) {
            try await change { contents in (contents.removeRegistration(at: issuer), isChanged: true) }
        }
    }

    extension EncryptedFileTokenStore: FileLockedTokenStore {
        func lockFile(_ name: String) -> LockFile { LockFile(path: "\(file.path).\(name)") }
    }
#endif
