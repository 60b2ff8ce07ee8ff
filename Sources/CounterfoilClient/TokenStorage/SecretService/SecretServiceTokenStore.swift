#if os(Linux)
    public import CounterfoilProtocol
    public import CounterfoilPlatform

    /// A store in the Secret Service of a Linux desktop, such as GNOME Keyring, KWallet or KeePassXC.
    ///
    /// The freedesktop.org Secret Service API is called through the program `secret-tool`. A token is never in an
    /// argument or in an environment variable. The locks are files of mode 0600 in
    /// `$XDG_DATA_HOME/APPLICATION/counterfoil` and contain no secrets. The functions throw an error if the collection
    /// is locked or the service does not answer within `timeout`. In these cases they never return nil, which would
    /// mean that no user is signed in.
    public struct SecretServiceTokenStore: TokenStore {
        private let application: ApplicationIdentifier
        private let environment: [String: String]
        private let timeout: Duration

        /// The maximum time that a write waits for other writes, each of which may wait for the service.
        private var writeTimeout: Duration { timeout * 4 + .seconds(10) }

        /// Creates the store of an app.
        ///
        /// The store finds `secret-tool`, the session bus and the lock files by the variables of an environment.
        /// The variables are `PATH`, `DBUS_SESSION_BUS_ADDRESS`, `XDG_RUNTIME_DIR`, `XDG_DATA_HOME` and `HOME`.
        /// `timeout` is the time limit of each call of the service. If the collection is locked, the user must
        /// unlock it within this time.
        public init(
            application: ApplicationIdentifier,
            environment: [String: String] = ProcessInfo.processInfo.environment, timeout: Duration = .seconds(30)
        ) {
            self.application = application
            self.environment = environment
            self.timeout = timeout
        }

        /// Returns the record of a profile, or nil if there is none.
        public func record(of profile: ProfileName) async throws(TokenStoreError) -> TokenRecord? {
            try await entry(profile).read()?.record
        }

        /// Returns every profile that has a record, sorted by name.
        public func profiles() async throws(TokenStoreError) -> [StoredProfile] {
            let names = try await names()
            return try await StoredProfile.list(names.sorted().compactMap { ProfileName($0) }, record(of:))
        }

        /// Applies the change that the closure returns to the record of a profile, and returns what was stored before.
        @discardableResult
        public func update(
            _ profile: ProfileName, _ decide: @Sendable (StoredRecord) -> TokenRecord.Change
        ) async throws(TokenStoreError) -> StoredRecord {
            let lock = try await writeLock(within: writeTimeout)
            let entry = try entry(profile)
            var found: (record: TokenRecord, item: SecretServiceEntry.Item)?
            let before = try await StoredRecord { () throws(TokenStoreError) in
                found = try await entry.read()
                return found?.record
            }
            switch decide(before) {
            case .keep: break
            case .put(let record):
                // Write the mark file before the record. `TokenStoreChoice.automatic` learns from this file that the
                // Secret Service contains tokens.
                if !useMark.exists { try markUse() }
                // Parts of a record that cannot be read may be in either slot.
                if case .unreadable = before { try await entry.remove() }
                try await entry.write(record, over: found?.item)
                try markUse()
            case .remove where before != .none:
                try await entry.remove()
                if (try? await names()) == [] { try useMark.remove() } else { try markUse() }
            case .remove: break
            }
            lock.release()
            return before
        }

        /// Verifies that a record can be stored: reads the one that is stored, stores another item and deletes it.
        ///
        /// If the collection is locked, the service can ask the user to unlock it, as it does for a record.
        public func checkWritable(_ profile: ProfileName) async throws(TokenStoreError) {
            let lock = try await writeLock(within: writeTimeout)
            let entry = try entry(profile)
            _ = try await StoredRecord { () throws(TokenStoreError) in try await entry.read()?.record }
            try useMark.checkRoom(for: Self.roomOfMark)
            let probe = SecretService.Attributes(kind: .probe, of: application)
            try await service().store("probe", as: probe, label: "\(application.label): a check of the Secret Service")
            try await service().clear(probe)
            lock.release()
        }

        /// The room that the mark file needs, in bytes.
        private static let roomOfMark = 4096

        /// Returns the identity and the time of the mark file, which every write of this library replaces.
        ///
        /// A session therefore notices a sign-in or sign-out of another process without asking the service. If another
        /// program changes the items, such as a password manager, the session notices it when the access token expires.
        public func changeStamp() -> TokenStoreStamp? { useMark.stamp }

        private func service() throws(TokenStoreError) -> SecretService {
            try SecretService(environment: environment, timeout: timeout)
        }

        private func entry(_ profile: ProfileName) throws(TokenStoreError) -> SecretServiceEntry {
            SecretServiceEntry(application: application, profile: profile, service: try service())
        }

        private func names() async throws(TokenStoreError) -> Set<String> {
            try await service().values(
                of: "profile", in: SecretService.Attributes(kind: .credentials, of: application))
        }

        private var directory: URL { UserDataDirectory.url(of: application, environment: environment) }
    }

    extension SecretServiceTokenStore: FileLockedTokenStore {
        func lockFile(_ name: String) -> LockFile {
            LockFile(path: directory.appendingPathComponent("secret-service.\(name)").path)
        }
    }

    extension SecretServiceTokenStore: ClientRegistrationStore {
        /// Returns the registration at a server, or nil if the store has none.
        public func registration(at issuer: Issuer) async throws(TokenStoreError) -> ClientRegistration? {
            try await service().lookup(attributes(of: issuer)).flatMap(Base64URL.decode)
                .flatMap { ClientRegistration(stored: Data($0)) }
        }

        /// Stores a registration and replaces an earlier one at the same server.
        ///
        /// The registration is durable when the function returns.
        public func save(_ registration: ClientRegistration) async throws(TokenStoreError) {
            let bytes = try registration.stored(at: SecretService.name)
            try await service().store(
                Base64URL.encode(bytes), as: attributes(of: registration.issuer),
                label: "\(application.label): registration at \(registration.issuer)")
        }

        /// Deletes the registration at a server, if there is one.
        public func removeRegistration(at issuer: Issuer) async throws(TokenStoreError) {
            try await service().clear(attributes(of: issuer))
        }

        private func attributes(of issuer: Issuer) -> SecretService.Attributes {
            SecretService.Attributes(kind: .clientRegistration, of: application, ["issuer": issuer.rawValue])
        }
    }

    extension SecretServiceTokenStore {
        /// Whether the mark file exists, which records that this app has tokens of this user in the Secret Service.
        ///
        /// The file can be checked even while the service is unavailable.
        var isInUse: Bool { useMark.exists }

        private func markUse() throws(TokenStoreError) {
            try useMark.replace(with: Array("The tokens of \(application) are in the Secret Service.\n".utf8))
        }

        private var useMark: PrivateFile {
            PrivateFile(path: directory.appendingPathComponent("secret-service.in-use").path)
        }
    }
#endif
