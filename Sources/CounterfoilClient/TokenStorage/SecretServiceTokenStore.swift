#if os(Linux)
    public import CounterfoilProtocol
    public import Foundation

    /// A store in the Secret Service of a Linux desktop, such as GNOME Keyring, KWallet or KeePassXC.
    ///
    /// freedesktop.org Secret Service, through `secret-tool`; a token is never in an argument or in a variable of the
    /// environment. The locks, which hold no secrets, are files of mode 0600 in `$XDG_DATA_HOME/counterfoil`. A collection
    /// that is locked, and a service that does not answer within `patience`, are errors that say so: nobody is taken for
    /// signed out because of them.
    public struct SecretServiceTokenStore: TokenStore {
        private let environment: [String: String]
        private let patience: Duration

        /// How long a writing waits for others that write, each of which may wait for the service.
        private var turn: Turn { Turn(limit: patience * 4 + .seconds(10), isCancellable: false) }

        /// The store of an environment, of which `PATH`, the address of the session bus and the home directory count.
        ///
        /// `patience` is how long to wait for each answer, in which a person may have to unlock the collection.
        public init(
            environment: [String: String] = ProcessInfo.processInfo.environment, patience: Duration = .seconds(30)
        ) {
            self.environment = environment
            self.patience = patience
        }

        /// What is kept under a profile, or nil when there is nothing.
        public func record(of profile: ProfileName) async throws(TokenStoreError) -> TokenRecord? {
            try await entry(profile).read()?.record
        }

        /// Every profile that something is kept under, in the order of their names.
        public func profiles() async throws(TokenStoreError) -> [StoredProfile] {
            var profiles: [StoredProfile] = []
            let names = try await service().values(of: "profile", in: SecretService.Attributes(kind: .credentials))
            for name in names.sorted().compactMap({ ProfileName($0) }) {
                guard let record = try await record(of: name) else { continue }
                profiles.append(StoredProfile(name, record))
            }
            return profiles
        }

        /// Decides by what is kept under a profile what becomes of it, and does that; answers what was there before.
        @discardableResult
        public func update(
            _ profile: ProfileName, _ decide: @Sendable (TokenRecord?) -> TokenRecord.Change
        ) async throws(TokenStoreError) -> TokenRecord? {
            let lock = try await LockFile(path: path("secret-service.lock")).hold(turn)
            let entry = try entry(profile)
            let before = try await entry.read()
            switch decide(before?.record) {
            case .keep: break
            case .put(let record):
                // The sign of use comes first: a token that nobody looks for would be as good as lost.
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

        /// Waits until no other process has the exclusive right to a profile, and takes it.
        public func exclusiveRight(
            to profile: ProfileName, within limit: Duration
        ) async throws(TokenStoreError) -> ExclusiveRight {
            try await LockFile(path: path("secret-service.\(profile).refresh")).hold(Turn(limit: limit))
                .exclusiveRight()
        }

        private func service() throws(TokenStoreError) -> SecretService {
            try SecretService(environment: environment, patience: patience)
        }

        private func entry(_ profile: ProfileName) throws(TokenStoreError) -> SecretServiceEntry {
            SecretServiceEntry(profile: profile, service: try service())
        }

        private func path(_ name: String) -> String {
            DataDirectory.url(environment: environment).appendingPathComponent(name).path
        }
    }

    extension SecretServiceTokenStore: ClientRegistrationStore {
        /// What was registered at a server, or nil when nothing is kept.
        public func registration(at issuer: Issuer) async throws(TokenStoreError) -> ClientRegistration? {
            try await service().lookup(Self.attributes(of: issuer)).flatMap(Base64URL.decode)
                .flatMap { ClientRegistration(stored: Data($0)) }
        }

        /// Keeps a registration in the place of the one of the same server; durable when it returns.
        public func keep(_ registration: ClientRegistration) async throws(TokenStoreError) {
            let bytes = try registration.stored(at: SecretService.name)
            try await service().store(
                Base64URL.encode(bytes), as: Self.attributes(of: registration.issuer),
                label: "Counterfoil: registration at \(registration.issuer)")
        }

        /// Forgets the registration of a server, if there is one.
        public func forgetRegistration(at issuer: Issuer) async throws(TokenStoreError) {
            try await service().clear(Self.attributes(of: issuer))
        }

        /// Waits until no other process has the exclusive right to register at a server, and takes it.
        public func exclusiveRight(
            toRegisterAt issuer: Issuer, within limit: Duration
        ) async throws(TokenStoreError) -> ExclusiveRight {
            try await LockFile(path: path("secret-service.\(issuer.registrationLockName)")).hold(Turn(limit: limit))
                .exclusiveRight()
        }

        private static func attributes(of issuer: Issuer) -> SecretService.Attributes {
            SecretService.Attributes(kind: .clientRegistration, ["issuer": issuer.rawValue])
        }
    }

    extension SecretServiceTokenStore {
        /// Whether tokens of this person are in the Secret Service, even when it cannot be asked now.
        static func isInUse(_ environment: [String: String]) -> Bool {
            PrivateFile(path: useMark(environment)).exists
        }

        private static func markUse(_ environment: [String: String]) throws(TokenStoreError) {
            let mark = PrivateFile(path: useMark(environment))
            guard !mark.exists else { return }
            try mark.replace(with: Array("The tokens of counterfoil are in the Secret Service.\n".utf8))
        }

        private static func useMark(_ environment: [String: String]) -> String {
            DataDirectory.url(environment: environment).appendingPathComponent("secret-service.in-use").path
        }
    }
#endif
