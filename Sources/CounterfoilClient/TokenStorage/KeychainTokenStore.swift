#if canImport(Security)
    public import CounterfoilProtocol
    public import Foundation
    import Security

    /// A store in the Keychain of an Apple device.
    ///
    /// A generic password for each profile in the data protection keychain, readable after the device was unlocked once and
    /// never copied to another device (`kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`). On macOS that keychain is open
    /// to signed applications with an application identifier only; ``isUsable(service:)`` tells. The locks are files in a
    /// folder of the application; processes that share an access group must name one that they share too.
    public struct KeychainTokenStore: TokenStore {
        private let service: String
        private let accessGroup: String?
        private let lockFolder: URL

        /// The store of a service, which names the application; `accessGroup` shares it with others of the same team.
        public init(
            service: String = "counterfoil", accessGroup: String? = nil, lockFolder: URL? = nil
        ) {
            self.service = service
            self.accessGroup = accessGroup
            self.lockFolder =
                lockFolder
                ?? URL.applicationSupportDirectory.appendingPathComponent("counterfoil", isDirectory: true)
        }

        /// Whether the system lets this application use the keychain: tried with an item that is deleted at once.
        public static func isUsable(service: String = "counterfoil") -> Bool {
            var item = KeychainTokenStore(service: service).query()
            // No profile has a name with this character.
            item[kSecAttrAccount] = "?"
            let added = item.merging([kSecValueData: Data()]) { $1 }
            let status = SecItemAdd(added as CFDictionary, nil)
            SecItemDelete(item as CFDictionary)
            return status == errSecSuccess || status == errSecDuplicateItem
        }

        /// What is kept under a profile, or nil when there is nothing.
        public func record(of profile: ProfileName) throws(TokenStoreError) -> TokenRecord? {
            guard let bytes = try bytes(of: query(profile)) else { return nil }
            return try TokenRecord(stored: bytes, at: Self.place)
        }

        /// Every profile that something is kept under, in the order of their names.
        public func profiles() throws(TokenStoreError) -> [StoredProfile] {
            var query = query()
            query[kSecMatchLimit] = kSecMatchLimitAll
            query[kSecReturnAttributes] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return [] }
            guard status == errSecSuccess else { throw Self.refusal(status) }
            let names = (found as? [[String: Any]] ?? []).compactMap { $0[kSecAttrAccount as String] as? String }
            var profiles: [StoredProfile] = []
            for name in names.sorted().compactMap({ ProfileName($0) }) {
                guard let record = try record(of: name) else { continue }
                profiles.append(StoredProfile(name, record))
            }
            return profiles
        }

        /// Decides by what is kept under a profile what becomes of it, and does that; answers what was there before.
        @discardableResult
        public func update(
            _ profile: ProfileName, _ decide: @Sendable (TokenRecord?) -> TokenRecord.Change
        ) async throws(TokenStoreError) -> TokenRecord? {
            let lock = try await LockFile(path: path("keychain.lock"))
                .hold(Turn(limit: .seconds(10), isCancellable: false))
            let before = try record(of: profile)
            switch decide(before) {
            case .keep: break
            case .put(let record):
                try write(
                    try record.stored(at: Self.place), as: query(profile), label: "Counterfoil: profile \(profile)")
            case .remove: try remove(query(profile))
            }
            lock.release()
            return before
        }

        /// Waits until no other process has the exclusive right to a profile, and takes it.
        ///
        /// An application that shares its lock folder with others ends the right before the system suspends it: the system
        /// kills those that are suspended with such a lock.
        public func exclusiveRight(
            to profile: ProfileName, within limit: Duration
        ) async throws(TokenStoreError) -> ExclusiveRight {
            try await LockFile(path: path("keychain.\(profile).refresh")).hold(Turn(limit: limit)).exclusiveRight()
        }

        private static let place = "the Keychain"

        private func bytes(of item: [CFString: Any]) throws(TokenStoreError) -> Data? {
            var query = item
            query[kSecMatchLimit] = kSecMatchLimitOne
            query[kSecReturnData] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess else { throw Self.refusal(status) }
            guard let bytes = found as? Data else { throw .damaged(place: Self.place) }
            return bytes
        }

        private func remove(_ item: [CFString: Any]) throws(TokenStoreError) {
            let status = SecItemDelete(item as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.refusal(status) }
        }

        private func write(_ bytes: Data, as item: [CFString: Any], label: String) throws(TokenStoreError) {
            let values: [CFString: Any] = [
                kSecValueData: bytes,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(item as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                var added = item.merging(values) { $1 }
                added[kSecAttrLabel] = label
                status = SecItemAdd(added as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Self.refusal(status) }
        }

        private func query(_ profile: ProfileName? = nil) -> [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: service,
                kSecUseDataProtectionKeychain: true,
                kSecAttrSynchronizable: false,
            ]
            if let profile { query[kSecAttrAccount] = profile.rawValue }
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }

        /// Registrations are items of a service of their own, so that no profile is ever taken for one.
        private func query(_ issuer: Issuer) -> [CFString: Any] {
            query().merging([kSecAttrService: "\(service) registrations", kSecAttrAccount: issuer.rawValue]) { $1 }
        }

        private func path(_ name: String) -> String { lockFolder.appendingPathComponent(name).path }

        private static func refusal(_ status: OSStatus) -> TokenStoreError {
            let words = SecCopyErrorMessageString(status, nil) as String?
            return .unavailable(place: place, reason: words ?? "the system's status is \(status)")
        }
    }

    extension KeychainTokenStore: ClientRegistrationStore {
        /// What was registered at a server, or nil when nothing is kept.
        public func registration(at issuer: Issuer) throws(TokenStoreError) -> ClientRegistration? {
            try bytes(of: query(issuer)).flatMap(ClientRegistration.init(stored:))
        }

        /// Keeps a registration in the place of the one of the same server.
        public func keep(_ registration: ClientRegistration) throws(TokenStoreError) {
            try write(
                try registration.stored(at: Self.place), as: query(registration.issuer),
                label: "Counterfoil: registration at \(registration.issuer)")
        }

        /// Forgets the registration of a server, if there is one.
        public func forgetRegistration(at issuer: Issuer) throws(TokenStoreError) { try remove(query(issuer)) }

        /// Waits until no other process has the exclusive right to register at a server, and takes it.
        public func exclusiveRight(
            toRegisterAt issuer: Issuer, within limit: Duration
        ) async throws(TokenStoreError) -> ExclusiveRight {
            try await LockFile(path: path("keychain.\(issuer.registrationLockName)")).hold(Turn(limit: limit))
                .exclusiveRight()
        }
    }
#endif
