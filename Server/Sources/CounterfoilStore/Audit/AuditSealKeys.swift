package import CounterfoilProtocol
import Crypto
package import Foundation

/// The keys that authenticate the seals of the audit log, and what they authenticate.
///
/// Every number is 8 bytes in network byte order. A text is its length and its UTF-8 bytes after a byte 1, or a byte 0
/// if there is none. Each digest and code begins with a label of its own.
package struct AuditSealKeys: Sendable {
    private let serverKey: ServerKey
    private let keys: DerivedKeys

    package init(_ serverKey: ServerKey) {
        self.serverKey = serverKey
        keys = serverKey.auditSeals
    }

    /// The chain value before the first seal.
    package static let origin = [UInt8](repeating: 0, count: 32)

    // MARK: Making

    /// Seals an event after the end of the chain.
    package func seal(_ record: AuditRecord, after end: AuditChainEnd, random: RandomBytes) -> AuditSeal {
        let number = end.seal + 1
        let salts = (user: random.bytes(16), detail: random.bytes(16))
        let user = AuditDigest.user(of: record, salt: salts.user)
        let detail = AuditDigest.detail(of: record, salt: salts.detail)
        let pseudonym = self.pseudonym(of: record).map { self.code(ofPseudonym: $0, in: record, with: keys.current) }
        let digest = AuditDigest.event(record, user: user, detail: detail, pseudonym: pseudonym)
        let chain = AuditDigest.chain(after: end.chain, number: number, digest: digest)
        let code = self.code(ofSeal: number, at: record.position, digest: digest, chain: chain, with: keys.current)
        return AuditSeal(
            number: number, position: record.position, digest: digest,
            user: SaltedDigest(digest: user, salt: salts.user),
            detail: SaltedDigest(digest: detail, salt: salts.detail), pseudonym: pseudonym, chain: chain, code: code)
    }

    /// Creates the record of the end of the chain.
    package func head(seal: Int, chain: [UInt8], sealedAt: Date, checkedAt: Date?) -> AuditHead {
        AuditHead(
            seal: seal, chain: chain, sealedAt: sealedAt, checkedAt: checkedAt,
            code: code(ofHead: seal, chain, sealedAt, checkedAt, with: keys.current))
    }

    /// Creates the record of the beginning of the chain.
    package func start(seal: Int, chain: [UInt8], through: AuditPosition) -> AuditStart {
        AuditStart(
            seal: seal, chain: chain, through: through, code: code(ofStart: seal, chain, through, with: keys.current))
    }

    // MARK: Verifying

    /// Returns the position of the key that authenticated a seal, 0 for the current one; nil if none of them did.
    package func key(of seal: AuditSeal) -> Int? {
        keys.all.firstIndex { key in
            isEqual(
                code(ofSeal: seal.number, at: seal.position, digest: seal.digest, chain: seal.chain, with: key),
                seal.code)
        }
    }

    /// Returns the position of the key that authenticated the end of the chain; nil if none of them did.
    package func key(of head: AuditHead) -> Int? {
        keys.all.firstIndex { key in
            isEqual(code(ofHead: head.seal, head.chain, head.sealedAt, head.checkedAt, with: key), head.code)
        }
    }

    /// Returns the position of the key that authenticated the beginning of the chain; nil if none of them did.
    package func key(of start: AuditStart) -> Int? {
        keys.all.firstIndex { key in
            isEqual(code(ofStart: start.seal, start.chain, start.through, with: key), start.code)
        }
    }

    /// Returns true if an event is the one that was sealed, apart from what the deletion of its user has removed.
    ///
    /// - Parameter key: The position of the key that authenticated the seal.
    package func matches(_ record: AuditRecord, _ seal: AuditSeal, key: Int) -> Bool {
        guard record.position == seal.position, isUserSealed(record, seal, key: key),
            isDetailSealed(record, seal)
        else { return false }
        let digest = AuditDigest.event(
            record, user: seal.user.digest, detail: seal.detail.digest, pseudonym: seal.pseudonym)
        return digest == seal.digest
    }

    private func isUserSealed(_ record: AuditRecord, _ seal: AuditSeal, key: Int) -> Bool {
        if let salt = seal.user.salt { return AuditDigest.user(of: record, salt: salt) == seal.user.digest }
        // The event must be that of a deleted user.
        guard record.grantID == nil, record.source == nil, record.requestID == nil, let sealed = seal.pseudonym,
            let pseudonym = record.userID, UserIdentifier(pseudonym)?.isPseudonym == true
        else { return false }
        // A pseudonym that was made with another server key is another one. While several are listed, a server that was
        // not restarted yet may have made it with a former one, or with the next.
        return key > 0 || keys.all.count > 1
            || isEqual(code(ofPseudonym: pseudonym, in: record, with: keys.all[key]), sealed)
    }

    private func isDetailSealed(_ record: AuditRecord, _ seal: AuditSeal) -> Bool {
        if let salt = seal.detail.salt { return AuditDigest.detail(of: record, salt: salt) == seal.detail.digest }
        return seal.user.salt == nil && record.detail == nil
    }

    // MARK: Codes

    /// Returns the pseudonym that the user of an event has after a deletion; nil if the event has no user.
    private func pseudonym(of record: AuditRecord) -> String? {
        guard let user = record.userID.flatMap({ UserIdentifier($0) }) else { return nil }
        return user.isPseudonym ? user.rawValue : serverKey.auditPseudonym(of: user).rawValue
    }

    private func code(ofPseudonym pseudonym: String, in record: AuditRecord, with key: SymmetricKey) -> [UInt8] {
        var bytes = CanonicalBytes("counterfoil audit pseudonym")
        bytes.add(record.position.number)
        bytes.add(pseudonym)
        return bytes.code(with: key)
    }

    private func code(
        ofSeal number: Int, at position: AuditPosition, digest: [UInt8], chain: [UInt8], with key: SymmetricKey
    ) -> [UInt8] {
        var bytes = CanonicalBytes("counterfoil audit seal")
        bytes.add(number)
        bytes.add(position)
        bytes.add(digest)
        bytes.add(chain)
        return bytes.code(with: key)
    }

    private func code(
        ofHead seal: Int, _ chain: [UInt8], _ sealedAt: Date, _ checkedAt: Date?, with key: SymmetricKey
    ) -> [UInt8] {
        var bytes = CanonicalBytes("counterfoil audit head")
        bytes.add(seal)
        bytes.add(chain)
        bytes.add(AuditPosition(at: sealedAt, number: 0))
        if let checkedAt { bytes.add(AuditPosition(at: checkedAt, number: 0)) }
        return bytes.code(with: key)
    }

    private func code(
        ofStart seal: Int, _ chain: [UInt8], _ through: AuditPosition, with key: SymmetricKey
    ) -> [UInt8] {
        var bytes = CanonicalBytes("counterfoil audit start")
        bytes.add(seal)
        bytes.add(chain)
        bytes.add(through)
        return bytes.code(with: key)
    }

    private func isEqual(_ expected: [UInt8], _ code: [UInt8]) -> Bool {
        expected.count == code.count && zip(expected, code).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// The digests of a seal, which need no key.
package enum AuditDigest {
    /// The digest of what the deletion of a user removes.
    package static func user(of record: AuditRecord, salt: [UInt8]) -> [UInt8] {
        var bytes = CanonicalBytes("counterfoil audit person")
        bytes.add(salt)
        for text in [record.userID, record.grantID, record.source, record.requestID] { bytes.add(text) }
        return bytes.digest
    }

    /// The digest of the further details.
    package static func detail(of record: AuditRecord, salt: [UInt8]) -> [UInt8] {
        var bytes = CanonicalBytes("counterfoil audit detail")
        bytes.add(salt)
        bytes.add(record.detail)
        return bytes.digest
    }

    /// The digest of an event: what never changes, and the digests of what can be removed.
    package static func event(
        _ record: AuditRecord, user: [UInt8], detail: [UInt8], pseudonym: [UInt8]?
    ) -> [UInt8] {
        var bytes = CanonicalBytes("counterfoil audit event")
        bytes.add(record.position)
        for text in [record.kind, record.outcome, record.clientID, record.action] { bytes.add(text) }
        for digest in [user, detail, pseudonym ?? []] { bytes.add(digest) }
        return bytes.digest
    }

    /// The chain value of a seal.
    package static func chain(after former: [UInt8], number: Int, digest: [UInt8]) -> [UInt8] {
        var bytes = CanonicalBytes("counterfoil audit chain")
        bytes.add(former)
        bytes.add(number)
        bytes.add(digest)
        return bytes.digest
    }
}

/// The bytes of several values, of which no two lists have the same.
private struct CanonicalBytes {
    private var data = Data()

    init(_ label: String) { add(label) }

    mutating func add(_ number: Int) { add(Int64(number)) }

    mutating func add(_ number: Int64) { withUnsafeBytes(of: number.bigEndian) { data.append(contentsOf: $0) } }

    mutating func add(_ position: AuditPosition) {
        add(position.microseconds)
        add(position.number)
    }

    mutating func add(_ bytes: [UInt8]) {
        add(bytes.count)
        data.append(contentsOf: bytes)
    }

    mutating func add(_ text: String?) {
        data.append(text == nil ? 0 : 1)
        if let text { add(Array(text.utf8)) }
    }

    var digest: [UInt8] { Array(SHA256.hash(data: data)) }

    func code(with key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: data, using: key))
    }
}
