#if !os(Windows)
    public import CounterfoilProtocol
    import Crypto
    public import Foundation

    /// A store in one encrypted file, with its key in the Secret Service or in a file beside it.
    ///
    /// AES-256-GCM. Its files have the mode 0600 in a directory of mode 0700, belong to the person who runs the application,
    /// and are refused otherwise. With a key beside it, the encryption keeps tokens out of backups, indexes and searches
    /// that take one file and not the other; against somebody who can read both, only the modes protect. A write replaces
    /// the file as a whole, so that a crash leaves the old one or the new one. The file says itself where its key is: as
    /// long as it is there, no other key is made. With the last profile and the last registration both go.
    public struct EncryptedFileTokenStore: TokenStore {
        /// The file with the credentials; locks, and maybe the key, are in files of the same name with an ending.
        public let file: URL

        private let keys: TokenFileKeys
        private var tokenFile: PrivateFile { PrivateFile(path: file.path) }

        /// How long a writing waits for others that write: each of them takes milliseconds.
        private static let patience = Duration.seconds(10)

        /// A store in a file, which need not exist yet.
        ///
        /// `placement` says where the key goes when the file is made; a file that is there knows where it is. `environment`
        /// is the one in which the Secret Service is looked for.
        public init(
            file: URL,
            placement: TokenFileKeyPlacement = .automatic,
            environment: [String: String] = ProcessInfo.processInfo.environment
        ) {
            self.file = file
            keys = TokenFileKeys(path: file.path, placement: placement, environment: environment)
        }

        /// The store where the person's applications keep their data: `$XDG_DATA_HOME/counterfoil/tokens`.
        ///
        /// Without that variable it is `~/.local/share/counterfoil/tokens`.
        public static func standard(
            placement: TokenFileKeyPlacement = .automatic,
            environment: [String: String] = ProcessInfo.processInfo.environment
        ) -> EncryptedFileTokenStore {
            EncryptedFileTokenStore(
                file: DataDirectory.url(environment: environment).appendingPathComponent("tokens"),
                placement: placement, environment: environment)
        }

        /// Where the key of the file is, or nil when there is no file yet.
        public func keyLocation() throws(TokenStoreError) -> TokenFileKeyLocation? {
            guard let sealed = try tokenFile.read() else { return nil }
            return try TokenFileHeader(beginning: sealed, at: file.path).location(of: file.path)
        }

        /// What is kept under a profile, or nil when there is nothing.
        public func record(of profile: ProfileName) async throws(TokenStoreError) -> TokenRecord? {
            try await read()?.contents.record(of: profile, at: file.path)
        }

        /// Every profile that something is kept under, in the order of their names.
        public func profiles() async throws(TokenStoreError) -> [StoredProfile] {
            guard let contents = try await read()?.contents else { return [] }
            var profiles: [StoredProfile] = []
            for name in contents.names {
                guard let record = try contents.record(of: name, at: file.path) else { continue }
                profiles.append(StoredProfile(name, record))
            }
            return profiles
        }

        /// Decides by what is kept under a profile what becomes of it, and does that; answers what was there before.
        @discardableResult
        public func update(
            _ profile: ProfileName, _ decide: @Sendable (TokenRecord?) -> TokenRecord.Change
        ) async throws(TokenStoreError) -> TokenRecord? {
            try await change { (contents) throws(TokenStoreError) in
                let before = try contents.record(of: profile, at: file.path)
                switch decide(before) {
                case .keep: return (before, isChanged: false)
                case .put(let record): try contents.put(record, as: profile, at: file.path)
                case .remove where before == nil: return (before, isChanged: false)
                case .remove: contents.remove(profile)
                }
                return (before, isChanged: true)
            }
        }

        /// Changes what the file holds, while nobody else does; a file that holds nothing any more goes, with its key.
        private func change<Value: Sendable>(
            _ change: (inout TokenFileContents) throws(TokenStoreError) -> (Value, isChanged: Bool)
        ) async throws(TokenStoreError) -> Value {
            let lock = try await LockFile(path: file.path + ".lock")
                .hold(Turn(limit: Self.patience, isCancellable: false))
            let stored = try await read()
            var contents = stored?.contents ?? TokenFileContents()
            let (value, isChanged) = try change(&contents)
            switch (isChanged, contents.isEmpty) {
            case (false, _): break
            case (true, false): try await write(contents, with: stored?.key)
            case (true, true):
                if stored != nil { try tokenFile.remove() }
                if let key = stored?.key { await keys.forget(key) }
            }
            lock.release()
            return value
        }

        /// Waits until no other process has the exclusive right to a profile, and takes it.
        public func exclusiveRight(
            to profile: ProfileName, within limit: Duration
        ) async throws(TokenStoreError) -> ExclusiveRight {
            try await LockFile(path: "\(file.path).\(profile).refresh").hold(Turn(limit: limit)).exclusiveRight()
        }

        private struct Opened {
            let contents: TokenFileContents
            let key: TokenFileKey
        }

        private func read() async throws(TokenStoreError) -> Opened? {
            var sealed = try tokenFile.read()
            while let bytes = sealed {
                do throws(TokenStoreError) {
                    return try await open(bytes)
                } catch {
                    // Between the reading of the file and of its key, another process may have removed both.
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
            return Opened(contents: try TokenFileContents(plain, of: header, at: file.path), key: key)
        }

        private func write(_ contents: TokenFileContents, with known: TokenFileKey?) async throws(TokenStoreError) {
            let key = if let known { known } else { try await keys.make() }
            let header = TokenFileHeader(key.place)
            guard
                let plain = contents.plain,
                let sealed = try? AES.GCM.seal(plain, using: key.key, authenticating: header.bytes).combined
            else { throw .failed(path: file.path, reason: "the credentials cannot be encrypted") }
            try tokenFile.replace(with: header.bytes + sealed)
        }
    }

    extension EncryptedFileTokenStore: ClientRegistrationStore {
        /// What was registered at a server, or nil when nothing is kept.
        public func registration(at issuer: Issuer) async throws(TokenStoreError) -> ClientRegistration? {
            try await read()?.contents.registration(at: issuer)
        }

        /// Keeps a registration in the place of the one of the same server; durable when it returns.
        public func keep(_ registration: ClientRegistration) async throws(TokenStoreError) {
            try await change { (contents) throws(TokenStoreError) in
                (try contents.put(registration, at: file.path), isChanged: true)
            }
        }

        /// Forgets the registration of a server, if there is one.
        public func forgetRegistration(at issuer: Issuer) async throws(TokenStoreError) {
            try await change { contents in (contents.removeRegistration(at: issuer), isChanged: true) }
        }

        /// Waits until no other process has the exclusive right to register at a server, and takes it.
        public func exclusiveRight(
            toRegisterAt issuer: Issuer, within limit: Duration
        ) async throws(TokenStoreError) -> ExclusiveRight {
            try await LockFile(path: "\(file.path).\(issuer.registrationLockName)").hold(Turn(limit: limit))
                .exclusiveRight()
        }
    }
#endif
