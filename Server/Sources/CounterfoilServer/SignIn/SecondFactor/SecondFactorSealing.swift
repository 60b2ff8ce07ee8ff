import CounterfoilStore

/// The encryption of the secrets of second factors with the current server key.
///
/// A secret that a former server key has encrypted is encrypted again, so that the former key can be given up.
struct SecondFactorSealing: Sendable {
    let store: any SecondFactorStore
    let serverKey: ServerKey

    /// Encrypts the secrets of at most `limit` second factors again, after the one of a user.
    ///
    /// A secret that no server key decrypts stays as it is: the key may come back.
    ///
    /// - Returns: The user of the last one; nil if there are no others.
    func renew(after user: UserIdentifier?, limit: Int) async throws -> UserIdentifier? {
        let keyName = serverKey.fingerprints[0]
        let factors = try await store.secondFactors(notSealedBy: keyName, after: user, limit: limit)
        for factor in factors {
            guard let secret = try? serverKey.open(secondFactor: factor.sealedSecret, of: factor.userID) else {
                continue
            }
            let sealed = try serverKey.seal(secondFactor: secret, of: factor.userID)
            try await store.replaceSealedSecret(of: factor, with: sealed, by: keyName)
        }
        return factors.last?.userID
    }
}
