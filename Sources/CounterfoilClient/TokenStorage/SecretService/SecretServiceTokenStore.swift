#if os(Linux)
    public import CounterfoilProtocol
    public import Foundation

    /// A store in the Secret Service of a Linux desktop, such as GNOME Keyring, KWallet or KeePassXC.
    ///
    /// freedesktop.org Secret Service, through the program `secret-tool`. A token is never in an argument or in
    /// an environment variable. The locks, which hold no secrets, are files of mode 0600 in
    /// `$XDG_DATA_HOME/counterfoil`. A locked collection is an error, and so is a service that does not answer
    /// within `timeout`. Neither is mistaken for a signed-out user.
    public struct SecretServiceTokenStore: TokenStore {
        private let environment: [String: String]
        private let timeout: Duration

        /// The time limit of a write that waits for other writes, each of which may wait for the service.
        private var writeTimeout: Duration { timeout * 4 + .seconds(10) }

        /// Creates the store of an environment, of which `PATH`, the address of the session bus and the home
        /// directory matter.
        ///
        /// `timeout` is the time limit of each answer, within which the user may have to unlock the
        /// collection.
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

        /// Updates the record of a profile as the closure decides, and returns the record from before.
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
                // The mark is written first: without it, `auto` would not look for the token in the Secret
                // Service.
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
        /// It is durable when the function returns.
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
        /// Returns whether this user has tokens in the Secret Service, even if the service is unavailable now.
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
