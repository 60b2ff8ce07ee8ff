public import CounterfoilProtocol

extension AccessTokenClaims {
    /// Throws unless the token is bound to the proven key; without a proof, unless it is bound to no key.
    ///
    /// RFC 9449 §7.1 and §7.2. If a bound token were accepted without a proof, a thief could use it. If an unbound
    /// token were accepted with a proof, the proof would suggest a protection that the token does not have.
    @_spi(Counterfoil) public func requireProof(of provenKey: KeyThumbprint?) throws(TokenRefusal) {
        switch (keyThumbprint, provenKey) {
        case (nil, nil): return
        case (nil, _?): throw .notBoundToKey
        case (_?, nil): throw .boundToKey
        case (let bound?, let proven?):
            guard ConstantTime.equals(bound.rawValue, proven.rawValue) else { throw .boundToAnotherKey }
        }
    }
}
