@_spi(Counterfoil) public import CounterfoilProtocol
import CounterfoilTokens
package import Crypto

/// The server key: 256 secret bits from which all other symmetric keys are derived, and former server keys.
///
/// The key is not in the database. It is in a file that only the server can read, or in an environment variable.
///
/// A server key can be replaced without an interruption. First, each server gets the new key as its second one. Then
/// each gets it as its first one, with which it makes tokens, tickets and everything else. What the former key has
/// made stays valid as long as the former key is in the list.
public struct ServerKey: Sendable {
    /// The number of bytes of a key.
    public static let size = 32
    /// The maximum number of keys.
    public static let limit = 8

    /// The current key, which makes everything, and the former ones, which are only accepted.
    private let keys: [SymmetricKey]

    /// Creates a server key from the bytes of the current key, followed by those of former keys.
    ///
    /// Returns nil unless there are ``size`` bytes for each of 1 to ``limit`` keys.
    public init?(bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: Self.size), bytes.count <= Self.limit * Self.size else {
            return nil
        }
        keys = stride(from: 0, to: bytes.count, by: Self.size).map {
            SymmetricKey(data: bytes[$0..<$0 + Self.size])
        }
    }

    private init(_ keys: [SymmetricKey]) { self.keys = keys }

    /// Each key as a server key of its own, the current one first.
    package var single: [ServerKey] { keys.map { ServerKey([$0]) } }

    /// A name for each key, the current one first, from which nothing about the key can be learned.
    ///
    /// A name is the first 8 hexadecimal digits of a key that is derived for nothing else. Two keys of one server with
    /// the same name are so rare that no rule considers them.
    package var fingerprints: [String] {
        derived("counterfoil server key fingerprint").all.map { key in
            key.withUnsafeBytes { bytes in
                bytes.prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
        }
    }

    /// Returns true if one of the keys encrypted a signing key.
    package func opens(_ record: SealedSigningKey) -> Bool {
        (try? open(record.sealed, identifier: record.id.rawValue)) != nil
    }

    /// Returns true if one of the keys encrypted the keys of the identifiers.
    package func opens(identifierKeys sealed: [UInt8]) -> Bool { (try? identifierSealing.open(sealed)) != nil }

    /// Returns true if every key of another server key is one of the keys.
    public func includes(_ other: ServerKey) -> Bool {
        other.keys.allSatisfy { wanted in keys.contains { $0 == wanted } }
    }

    /// Creates 32 random bytes for a new server key, which the caller must keep outside the database.
    public static func newBytes(random: RandomBytes = RandomBytes()) -> [UInt8] { random.bytes(size) }

    /// The keys that authenticate form tickets, which protect forms against cross-site request forgery.
    package var tickets: DerivedKeys { derived("counterfoil page tickets") }

    /// The keys that encrypt the cookie in which the browser remembers the user who last signed in.
    package var earlierSignIns: DerivedKeys { derived("counterfoil earlier sign-ins") }

    /// The keys that encrypt the hidden field of a sign-in that waits for the second factor.
    package var pendingSignIns: DerivedKeys { derived("counterfoil pending sign-ins") }

    /// The keys that encrypt the cookie of a sign-in at another issuer.
    package var externalSignIns: DerivedKeys { derived("counterfoil external sign-ins") }

    /// The keys that encrypt the cookie of a browser that is remembered for a second factor.
    package var rememberedBrowsers: DerivedKeys { derived("counterfoil remembered browsers") }

    /// The keys that encrypt the secret of a second factor that is being set up, in a hidden field.
    package var secondFactorSetups: DerivedKeys { derived("counterfoil second factor setups") }

    /// The keys that encrypt the secrets of second factors in the store.
    private var secondFactors: DerivedKeys { derived("counterfoil second factors") }

    /// Encrypts the secret of a second factor for the store, and binds the result to its user.
    package func seal(secondFactor secret: [UInt8], of user: UserIdentifier) throws -> [UInt8] {
        try secondFactors.seal(secret, authenticating: Array(user.rawValue.utf8))
    }

    /// Decrypts the output of ``seal(secondFactor:of:)`` with the server key that encrypted it.
    package func open(secondFactor sealed: [UInt8], of user: UserIdentifier) throws -> [UInt8] {
        try secondFactors.open(sealed, authenticating: Array(user.rawValue.utf8)).bytes
    }

    /// The keys that encrypt the positions in lists of the administration API.
    package var listCursors: DerivedKeys { derived("counterfoil list cursors") }

    /// The keys that encrypt the answers that are kept for repeated requests to the administration API.
    package var keptAnswers: DerivedKeys { derived("counterfoil kept answers") }

    /// The HMAC key of the digests by which requests to the administration API are compared.
    package var repeatedContents: SymmetricKey { derived("counterfoil repeated contents").current }

    /// The HMAC keys of refresh tokens.
    package var refreshTokens: DerivedKeys { derived("counterfoil refresh tokens") }

    /// The key from which pairwise subject identifiers are computed in a new store (``IdentifierKeys``).
    package var pairwiseSubjects: SymmetricKey { derived("counterfoil pairwise subjects").current }

    /// The key from which one key for each sector is derived in a new store (``IdentifierKeys``), which encrypts the
    /// pairwise session identifiers.
    package var pairwiseSessions: SymmetricKey { derived("counterfoil pairwise sessions").current }

    /// The keys from which the nonces for DPoP proofs are made.
    package var proofNonces: DerivedKeys { derived("counterfoil dpop nonces") }

    /// The HMAC key of the pseudonyms of deleted users in the audit log.
    var auditPseudonyms: SymmetricKey { derived("counterfoil audit pseudonyms").current }

    /// The HMAC keys of the seals of the audit log.
    var auditSeals: DerivedKeys { derived("counterfoil audit seals") }

    /// The keys that encrypt the identifiers of deleted users in queued logout notifications.
    private var removedSubjects: DerivedKeys { derived("counterfoil removed subjects") }

    /// The keys that encrypt the contents of queued mails.
    private var mailSealing: DerivedKeys { derived("counterfoil mails") }

    /// The HMAC key of the digests under which failed attempts are counted.
    package var attempts: SymmetricKey { derived("counterfoil attempts").current }

    /// The HMAC keys of the one-time link for creating the first owner.
    package var setupLinks: DerivedKeys { derived("counterfoil setup links") }

    /// The keys that encrypt the signing keys in the store.
    private var sealing: DerivedKeys { derived("counterfoil signing keys") }

    /// The keys that encrypt the ``IdentifierKeys`` in the store.
    package var identifierSealing: DerivedKeys { derived("counterfoil identifier keys") }

    /// The keys that encrypt the keys of certificates and of accounts at authorities in the store.
    private var certificateSealing: DerivedKeys { derived("counterfoil certificate keys") }

    /// Encrypts a private key of a certificate or of an account, and binds the result to what it belongs to.
    package func seal(certificateKey bytes: [UInt8], of owner: CertificateKeyOwner) throws -> [UInt8] {
        try certificateSealing.seal(bytes, authenticating: owner.context)
    }

    /// Decrypts the output of ``seal(certificateKey:of:)``, and returns whether the current key encrypted it.
    package func open(
        certificateKey sealed: [UInt8], of owner: CertificateKeyOwner
    ) throws -> (bytes: [UInt8], isCurrent: Bool) {
        try certificateSealing.open(sealed, authenticating: owner.context)
    }

    /// The keys that encrypt the secrets of webhooks in the store.
    private var webhookSecrets: DerivedKeys { derived("counterfoil webhook secrets") }

    /// Encrypts the secret of a webhook for the store, and binds the result to the webhook.
    package func seal(webhookSecret secret: [UInt8], of webhook: WebhookIdentifier) throws -> [UInt8] {
        try webhookSecrets.seal(secret, authenticating: Array(webhook.rawValue.utf8))
    }

    /// Decrypts the output of ``seal(webhookSecret:of:)``, and returns whether the current key encrypted it.
    package func open(
        webhookSecret sealed: [UInt8], of webhook: WebhookIdentifier
    ) throws -> (bytes: [UInt8], isCurrent: Bool) {
        try webhookSecrets.open(sealed, authenticating: Array(webhook.rawValue.utf8))
    }

    /// Encrypts the identifier of a deleted user for the queue of the logout notifications.
    package func seal(subject user: UserIdentifier) throws -> [UInt8] {
        try removedSubjects.seal(Array(user.rawValue.utf8))
    }

    /// Decrypts the output of ``seal(subject:)``; nil if it was not encrypted with one of the keys.
    package func open(subject sealed: [UInt8]) -> UserIdentifier? {
        (try? removedSubjects.open(sealed)).flatMap { UserIdentifier(String(decoding: $0.bytes, as: UTF8.self)) }
    }

    /// Encrypts the contents of a mail for the queue, and binds the result to the mail.
    package func seal(mail bytes: [UInt8], identifier: MailIdentifier) throws -> [UInt8] {
        try mailSealing.seal(bytes, authenticating: Array(identifier.rawValue.utf8))
    }

    /// Decrypts the output of ``seal(mail:identifier:)``; nil if it was not encrypted with one of the keys.
    package func open(mail sealed: [UInt8], identifier: MailIdentifier) -> [UInt8]? {
        try? mailSealing.open(sealed, authenticating: Array(identifier.rawValue.utf8)).bytes
    }

    /// Encrypts a private key for the store, and binds the result to the key identifier.
    package func seal(_ bytes: [UInt8], identifier: String) throws -> [UInt8] {
        try sealing.seal(bytes, authenticating: Array(identifier.utf8))
    }

    /// Decrypts the output of ``seal(_:identifier:)`` with the server key that encrypted it.
    package func open(_ sealed: [UInt8], identifier: String) throws -> [UInt8] {
        try sealing.open(sealed, authenticating: Array(identifier.utf8)).bytes
    }

    private func derived(_ purpose: String) -> DerivedKeys {
        DerivedKeys(
            all: keys.map {
                HKDF<SHA256>.deriveKey(inputKeyMaterial: $0, info: Array(purpose.utf8), outputByteCount: 32)
            })
    }
}

/// The owner of a stored private key: a certificate for TLS, or an account at an authority.
package enum CertificateKeyOwner: Sendable {
    /// The account at the authority with a directory URL.
    case account(authority: String)
    /// The certificate with its chain in PEM format.
    case certificate(chain: String)

    fileprivate var context: [UInt8] {
        switch self {
        case .account(let authority): Array("account \(authority)".utf8)
        case .certificate(let chain): Array("certificate \(chain)".utf8)
        }
    }
}

/// The keys of one purpose: the current one, which makes everything, and former ones, which are only accepted.
package struct DerivedKeys: Sendable {
    /// Every key, the current one first; never empty.
    package let all: [SymmetricKey]

    fileprivate init(all: [SymmetricKey]) { self.all = all }

    /// Creates the keys of a purpose with a single key.
    package init(_ key: SymmetricKey) { all = [key] }

    package var current: SymmetricKey { all[0] }

    /// Encrypts bytes with the current key.
    package func seal(_ bytes: [UInt8], authenticating context: [UInt8] = []) throws -> [UInt8] {
        guard let combined = try AES.GCM.seal(bytes, using: current, authenticating: context).combined else {
            throw CryptoKitError.incorrectParameterSize
        }
        return Array(combined)
    }

    /// Decrypts the output of ``seal(_:authenticating:)`` with the key that encrypted it, and returns whether that is
    /// the current one.
    package func open(
        _ sealed: [UInt8], authenticating context: [UInt8] = []
    ) throws -> (bytes: [UInt8], isCurrent: Bool) {
        let box = try AES.GCM.SealedBox(combined: sealed)
        for (position, key) in all.enumerated() {
            if let bytes = try? AES.GCM.open(box, using: key, authenticating: context) {
                return (Array(bytes), position == 0)
            }
        }
        throw CryptoKitError.authenticationFailure
    }

    /// Returns true if a code is that of one of the keys, which `code` computes; compares in constant time.
    package func authenticate(_ presented: [UInt8], code: (SymmetricKey) -> [UInt8]) -> Bool {
        all.contains { ConstantTime.equals(presented, code($0)) }
    }
}
