import CounterfoilProtocol
import CounterfoilStore

extension RegisteredClient {
    /// Throws `invalid_scope` if a request names a scope that the client does not get before its approval.
    func checkReserved(_ asked: Scope) throws(OAuthError) {
        let withheld = asked.intersection(withheldScope)
        guard withheld.isEmpty else {
            throw OAuthError(
                .invalidScope,
                "these scopes are reserved for clients that an administrator of this server has approved: \(withheld)")
        }
    }
}
