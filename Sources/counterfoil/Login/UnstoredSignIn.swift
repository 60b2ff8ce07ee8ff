import CounterfoilClient

/// Runs a step in which a user signs in and the tokens are stored; revokes the tokens if they cannot be stored.
///
/// The tokens would stay valid at the server, and nothing would know them.
///
/// - Parameters:
///   - session: The session of the step.
///   - former: The credentials that the profile contained before the step.
func revokingUnstoredSignIn<Value>(
    in session: TokenSession, replacing former: Credentials? = nil, _ step: () async throws -> Value
) async throws -> Value {
    do { return try await step() } catch SessionError.notStored(let fresh, let cause) {
        let status = Failure(cause).status
        guard await session.revoke(unstored: fresh, replacing: former) else {
            let remaining = RemainingTokens(of: fresh).clause.map { ": \($0)" } ?? ""
            throw Failure(
                status,
                "the token could not be stored after the sign-in: \(cause). It was not revoked at the server\(remaining)"
            )
        }
        throw Failure(
            status, "the token could not be stored after the sign-in, and was revoked at the server: \(cause)")
    }
}
