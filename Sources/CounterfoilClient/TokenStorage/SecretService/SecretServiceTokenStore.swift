#if os(Linux)
    public import CounterfoilProtocol
    public import Foundation

    /// A store in the Secret Service of a Linux desktop, such as GNOME Keyring, KWallet or KeePassXC.
    ///
    /// The freedesktop.org Secret Service API is called through the program `secret-tool`. A token is never in an
    /// argument or in an environment variable. The locks are files of mode 0600 in
    /// `$XDG_DATA_HOME/counterfoil` and contain no secrets. The functions throw an error if the collection is
    /// locked or the service does not answer within `timeout`. In these cases they never return nil, which would
    /// mean that no user is signed in.
    public struct SecretServiceTokenStore: TokenStore {
        private let environment: [String: String]
        private let timeout: Duration

        /// The maximum time that a write waits for other writes, each of which may wait for the service.
        private var writeTimeout: Duration { timeout * 4 + .seconds(10) }

        /// Creates a store that finds `secret-tool`, the session bus and the lock files by the variables of an
        /// environment.
        ///
        /// The variables are `PATH`, `DBUS_SESSION_BUS_ADDRESS`, `XDG_RUNTIME_DIR`, `XDG_DATA_HOME` and `HOME`.
        /// `timeout` is the time limit of each call of the service. If the collection is locked, the user must
        /// unlock it within this time.
        public init(
            environment: [String: String] = ProcessInfo.processInfo.environment, timeout: Duration = .seconds(30)
        ) {
            self.environment = environment
            self.timeout = timeout
        }

        /// Returns the record of a profile, or nil if there is none.
        public func record(of profile: ProfileName) async throws(TokenStoreError) -> TokenRecord? {
            try await entry(profile).read()?.record
        }

        /// Returns every profile that has a record, sorted by name.
        public func profiles() async throws(TokenStoreError) -> [StoredProfile] {
            let names = try await service().values(of: "profile", in: SecretService.Attributes(kind: .credentials))
            return try await StoredProfile.list(names.sorted().compactMap { ProfileName($0) }, record(of:))
        }

        /// Applies the change that the closure returns to the record of a profile, and returns the previous record.
        @discardableResult
        public func update(
            _ profile: ProfileName, _ decide: @Sendable (TokenRecord?) -> TokenRecord.Change
        ) async throws(TokenStoreError) -> TokenRecord? {
            let lock = try await writeLock(within: writeTimeout)
            let entry = try entry(profile)
            let before = try await entry.read()
            switch decide(before?.record) {
            case .keep: break
            case .put(let record):
                // Write the mark file before the record. `TokenStoreChoice.automatic` learns from this file that the
                // Secret Service contains tokens.
                try Self.markUse(environment)
                try await entry.write(record, over: before?.item)
            case .remove where before != nil:
                try await entry.remove()
                let others = try? await service().values(
                    of: "profile", in: SecretService.Attributes(kind: .credentials))
                if others == [] { try PrivateFile(path: Self.useMark(environment)).remove() }
            case .remove: break
            }
            lock.release()
            return before?.record
        }

        private func service() throws(TokenStoreError) -> SecretService {
            try SecretService(environment: environment, timeout: timeout)
        }

        private func entry(_ profile: ProfileName) throws(TokenStoreError) -> SecretServiceEntry {
            SecretServiceEntry(profile: profile, service: try service())
        }
    }

    extension SecretServiceTokenStore: FileLockedTokenStore {
        func lockFile(_ name: String) -> LockFile {
            let directory = UserDataDirectory.url(environment: environment)
            return LockFile(path: directory.appendingPathComponent("secret-service.\(name)").path)
        }
    }

    extension SecretServiceTokenStore: ClientRegistrationStore {
        /// Returns the registration at a server, or nil if the store has none.
        public func registration(at issuer: Issuer) async throws(TokenStoreError) -> ClientRegistration? {
            try await service().lookup(Self.attributes(of: issuer)).flatMap(Base64URL.decode)
                .flatMap { ClientRegistration(stored: Data($0)) }
        }

        /// Stores a registration and replaces an earlier one at the same server.
        ///
        /// The registration is durable when the function returns.
        public func save(_ registration: ClientRegistration) async throws(TokenStoreError) {
            let bytes = try registration.stored(at: SecretService.name)
            try await service().store(
                Base64URL.encode(bytes), as: Self.attributes(of: registration.issuer),
                label: "Counterfoil: registration at \(registration.issuer)")
        }

        /// Deletes the registration at a server, if there is one.
        public func removeRegistration(at issuer: Issuer) async throws(TokenStoreError) {
            try await service().clear(Self.attributes(of: issuer))
        }

        private static func attributes(of issuer: Issuer) -> SecretService.Attributes {
            SecretService.Attributes(kind: .clientRegistration, ["issuer": issuer.rawValue])
        }
    }

    extension SecretServiceTokenStore {
        /// Returns whether the mark file exists, which records that this user has tokens in the Secret Service.
        ///
        /// The file can be checked even while the service is unavailable.
        static func isInUse(_ environment: [String: String]) -> Bool {
            PrivateFile(path: useMark(environment)).exists
        }

        private static func markUse(_ environment: [String: String]) throws(TokenStoreError) {
            let mark = PrivateFile(path: useMark(environment))
            guard !mark.exists else { return }
            try mark.replace(with: Array("The tokens of counterfoil are in the Secret Service.\n".utf8))
        }

        private static func useMark(_ environment: [String: String]) -> String {
            UserDataDirectory.url(environment: environment).appendingPathComponent("secret-service.in-use").path
        }
    }
#endif
