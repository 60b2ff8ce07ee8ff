import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol
import CounterfoilTokens

/// The check of refresh and of refresh token rotation (RFC 6749 §6, RFC 9700 §4.14.2).
extension Examination {
    /// Refreshes the tokens and, if the server returns a new refresh token, refreshes again with the old one.
    ///
    /// Returns the latest credentials, which the caller revokes.
    mutating func refresh(
        _ credentials: Credentials, at server: AuthorizationServerConfiguration, _ recorder: ResponseRecorder
    ) async -> Credentials {
        guard let token = credentials.refreshToken else { return credentials }
        let refresh = TokenRefresh(transport: recorder)
        switch await refresh.refresh(credentials, with: token, at: server) {
        case .rejected(let error), .otherUser(_, let error): reject(error)
        case .withheld(let kept, let error):
            withhold(error)
            return kept
        case .failed(let error): return await retry(credentials, token, at: server, refresh, after: error)
        case .refreshed(let fresh, let unused):
            discard(unused.idToken)
            if let response = recorder.last { refreshedTokens(in: response) }
            guard let next = fresh.refreshToken, next != token else {
                let isRepeated = recorder.last.flatMap(Self.members)?["refresh_token"] != nil
                sound(
                    isRepeated ? "refresh-token-repeated" : "refresh-token-kept",
                    "a refresh works, and the refresh token remains the same")
                return fresh
            }
            return await old(token, of: fresh, at: server, refresh)
        }
        return credentials
    }

    /// Reports the ID token of a refresh that a client discards.
    private mutating func discard(_ error: SignInError?) {
        // Some servers send the time of the latest sign-in in any browser, which is another one.
        guard case .unsafe(.idToken(let refusal)) = error, refusal != .wrongAuthTime else { return }
        fault(
            "refresh-id-token", "the ID token of a refresh cannot be verified: \(refusal)",
            mend: "return an ID token of the same sign-in (OpenID Connect Core §12.2), or none")
    }

    /// Reports a refresh whose access token a client must not use.
    private mutating func withhold(_ error: SignInError) {
        fault(
            "refresh-withheld", "a client must not use the access token of a refresh: \(error)",
            mend: "return tokens of the type, the issuer and the client of the sign-in (OpenID Connect Core §12.2)")
    }

    private mutating func reject(_ error: SignInError) {
        if case .unsafe(.idToken) = error {
            return fault(
                "refresh-other-person", "the ID token of a refresh is not about the user who signed in: \(error)",
                mend: "return the same sub (OpenID Connect Core §12.2)")
        }
        fault(
            "refresh-refused", "a new refresh token is rejected: \(error)",
            mend: "check the log of the server; it must accept the refresh tokens that it issues", status: .refused)
    }

    /// Sends a refresh again with the same refresh token, after the first attempt failed.
    ///
    /// The result shows whether a lost response signs users out at this server.
    private mutating func retry(
        _ credentials: Credentials, _ token: RefreshToken, at server: AuthorizationServerConfiguration,
        _ refresh: TokenRefresh, after error: SignInError
    ) async -> Credentials {
        switch await refresh.refresh(credentials, with: token, at: server) {
        case .refreshed(let fresh, _):
            fault(
                "refresh-answer-lost",
                "the response to a refresh was lost (\(error)); the server repeated it for a retry",
                mend: "check why connections break; no user is signed out by this", status: .unavailable)
            return fresh
        case .withheld(let kept, let error):
            withhold(error)
            return kept
        case .rejected(let other), .otherUser(_, let other):
            fault(
                "refresh-answer-lost",
                "the response to a refresh was lost (\(error)), and the server then rejects the old refresh token (\(other)):"
                    + " users are signed out by this",
                mend: "repeat the response for a while if the same refresh token is sent again",
                status: .unavailable)
        case .failed(let other):
            fault(
                "refresh-fails", "a refresh failed twice: \(other)", mend: "check the log of the server",
                status: Failure(other).status)
        }
        return credentials
    }

    private mutating func old(
        _ token: RefreshToken, of fresh: Credentials, at server: AuthorizationServerConfiguration,
        _ refresh: TokenRefresh
    ) async -> Credentials {
        switch await refresh.refresh(fresh, with: token, at: server) {
        case .refreshed(let repeated, _):
            sound(
                "refresh-token-rotates-leniently",
                "a refresh returns a new refresh token, and the old one repeats the response for a while")
            return repeated
        case .failed: return fresh
        case .withheld(let kept, let error):
            withhold(error)
            return kept
        case .rejected, .otherUser: break
        }
        guard let next = fresh.refreshToken else { return fresh }
        let mend = "repeat the response for a while if the same refresh token is sent again"
        switch await refresh.refresh(fresh, with: next, at: server) {
        case .refreshed(let latest, _):
            advise(
                "refresh-token-rotates",
                "a refresh returns a new refresh token and invalidates the old one at once: a lost response signs the user out",
                mend: mend)
            return latest
        case .withheld(let kept, let error):
            withhold(error)
            return kept
        case .rejected, .otherUser, .failed:
            advise(
                "refresh-token-rotates-strictly",
                "a refresh returns a new refresh token, and reuse of the old one revokes the token family: a lost response signs the"
                    + " user out", mend: mend)
            return fresh
        }
    }
}
