import ACMEClient
import CounterfoilServer
import CounterfoilStore

/// The private keys of a certificate and of accounts, as the store keeps them: encrypted with the server key.
///
/// A key that a former server key has encrypted is encrypted again with the current one, so that the former one can be
/// given up.
struct StoredKeys: Sendable {
    let store: any CertificateOrderStore
    let serverKey: ServerKey

    /// Returns the account key for an authority, which is created at the first order.
    ///
    /// It is stored before the authority gets to know it, so that there is one account, whatever happens in between.
    func accountKey(of authority: AuthorityURL) async throws -> AccountKey {
        let owner = CertificateKeyOwner.account(authority: "\(authority)")
        let new = AccountKey()
        let sealed: [UInt8]
        do {
            sealed = try await store.accountKey(
                of: "\(authority)", orStoring: try serverKey.seal(certificateKey: new.rawRepresentation, of: owner))
        } catch let fault as StoreFault { throw OrderFailure.store(fault) }
        guard let (bytes, isCurrent) = try? serverKey.open(certificateKey: sealed, of: owner),
            let key = AccountKey(rawRepresentation: bytes)
        else { throw OrderFailure.accountKeyOfAnother }
        if !isCurrent, let again = try? serverKey.seal(certificateKey: bytes, of: owner) {
            try? await store.replaceAccountKey(of: "\(authority)", sealed, with: again)
        }
        return key
    }

    /// Encrypts the key of a certificate.
    func seal(key: String, of chain: String) throws -> [UInt8] {
        try serverKey.seal(certificateKey: Array(key.utf8), of: .certificate(chain: chain))
    }

    /// Returns the key of a stored certificate in PEM format; nil if it was encrypted with another server key.
    func key(of certificate: IssuedCertificate) async -> String? {
        let owner = CertificateKeyOwner.certificate(chain: certificate.chain)
        guard let (bytes, isCurrent) = try? serverKey.open(certificateKey: certificate.sealedKey, of: owner) else {
            return nil
        }
        if !isCurrent, let again = try? serverKey.seal(certificateKey: bytes, of: owner) {
            try? await store.replaceCertificateKey(certificate.sealedKey, with: again)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
