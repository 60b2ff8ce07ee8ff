#if !os(Windows)
    import CounterfoilProtocol
    import CounterfoilPlatform

    /// The decrypted contents of a token file: a record for each profile and a registration for each server.
    ///
    /// A record is decoded only when it is requested. A write of one record therefore preserves the other
    /// records, even if a later version of this program wrote them.
    struct TokenFileContents: Sendable {
        private var records: [String: Data] = [:]
        private var registrations: [String: Data] = [:]

        private struct Coded: Codable {
            let records: [String: Data]
            let registrations: [String: Data]
        }

        init() {}

        /// Decodes the contents.
        init(_ plain: Data, at path: String) throws(TokenStoreError) {
            guard let coded = try? JSONDecoder().decode(Coded.self, from: plain) else { throw .unreadable(path: path) }
            records = coded.records
            registrations = coded.registrations
        }

        /// The encoded contents, before encryption; nil if they cannot be encoded.
        var plain: Data? { try? JSONEncoder().encode(Coded(records: records, registrations: registrations)) }

        var isEmpty: Bool { records.isEmpty && registrations.isEmpty }

        var names: [ProfileName] { records.keys.sorted().compactMap { ProfileName($0) } }

        func record(of profile: ProfileName, at path: String) throws(TokenStoreError) -> TokenRecord? {
            guard let bytes = records[profile.rawValue] else { return nil }
            return try TokenRecord(stored: bytes, at: path)
        }

        func stored(_ profile: ProfileName, at path: String) -> StoredRecord {
            do throws(TokenStoreError) {
                return try record(of: profile, at: path).map { .record($0) } ?? .none
            } catch {
                return .unreadable(error)
            }
        }

        mutating func put(_ record: TokenRecord, as profile: ProfileName, at path: String) throws(TokenStoreError) {
            records[profile.rawValue] = try record.stored(at: path)
        }

        mutating func remove(_ profile: ProfileName) { records[profile.rawValue] = nil }

        func registration(at issuer: Issuer) -> ClientRegistration? {
            registrations[issuer.rawValue].flatMap(ClientRegistration.init(stored:))
        }

        mutating func put(_ registration: ClientRegistration, at path: String) throws(TokenStoreError) {
            registrations[registration.issuer.rawValue] = try registration.stored(at: path)
        }

        mutating func removeRegistration(at issuer: Issuer) { registrations[issuer.rawValue] = nil }
    }
#endif
